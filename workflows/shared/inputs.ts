// The inputs of the workflows. They hold ids and timeouts, never secrets or long text.

import type { DeliverEventInput, DeliverWebhookInput } from './activities.ts';
import type { RunTimeouts } from './run-timeouts.ts';
import type { SessionTimeouts } from './session-timeouts.ts';

export interface RunInput {
  runId: string;
  projectId: string;
  flowId: string;
  instance: string;
  /** The host on which admission claimed a slot; null if every host was full. */
  hostId: string | null;
  generation: number;
  /** Overrides of the defaults in run-timeouts.ts. */
  timeouts: Partial<RunTimeouts>;
}

export interface SessionInput {
  runId: string;
  projectId: string;
  flowId: string;
  instance: string;
  /** Overrides of the defaults in session-timeouts.ts. */
  timeouts: Partial<SessionTimeouts>;
  /** Passed on by continue-as-new; absent at the first start. */
  state?: SessionState;
}

export interface SessionState {
  sandbox: { hostId: string; generation: number } | null;
  /** The number of the latest sandbox; 0 before the first. */
  generation: number;
  hasPendingMessages: boolean;
  /** Sandboxes lost since the last finished turn. */
  consecutiveLosses: number;
}

export interface WebhookInput extends DeliverWebhookInput {
  instance: string;
}

export interface EventInput extends DeliverEventInput {
  instance: string;
}

export interface ScheduledTriggerInput {
  flowId: string;
  instance: string;
}
