import { defineSignal } from '@temporalio/workflow';
import type { RunTimes } from './run-times.ts';

/** What a run's workflow is told at its start: ids and times, nothing secret and nothing long. */
export interface RunInput {
  runId: string;
  projectId: string;
  flowId: string;
  instance: string;
  /** The place that admission found; null where every host was full. */
  hostId: string | null;
  generation: number;
  /** What differs from the defaults of run-times.ts. */
  times: Partial<RunTimes>;
}

export interface WebhookInput {
  runId: string;
  /** The number of the next attempt: those before it were made by the run's own workflow. */
  firstAttempt: number;
  instance: string;
}

export interface StopOrder {
  graceMs: number;
}

/** Whoever sends it has recorded the cause before; a signal by hand counts as the operator's. */
export const stopSignal = defineSignal<[StopOrder]>('stop');
