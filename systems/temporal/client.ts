import { WorkflowNotFoundError } from '@temporalio/client';
import type { Run } from '../../core/run.ts';
import type { StopOrder } from '../../workflows/messages.ts';
import type { RunTimes } from '../../workflows/run-times.ts';
import { connectTemporal, type TemporalAddress } from './connect.ts';
import { startRun } from './start-run.ts';
import { startWebhook, type WebhookStart } from './start-webhook.ts';

export interface TemporalOptions extends TemporalAddress {
  instance: string;
  times?: Partial<RunTimes>;
}

export type WorkflowState = 'running' | 'closed' | 'missing';

export interface Temporal {
  startRun(run: Run): Promise<'started' | 'already'>;
  signalStop(workflowId: string, order: StopOrder): Promise<'signalled' | 'gone'>;
  describe(workflowId: string): Promise<WorkflowState>;
  /** Ends a workflow that can no longer end itself. A second call changes nothing. */
  terminate(workflowId: string, reason: string): Promise<void>;
  startWebhook(start: WebhookStart): Promise<'started' | 'already'>;
  /** Does the server answer, now? */
  check(): Promise<void>;
  close(): Promise<void>;
}

export function createTemporal(options: TemporalOptions): Temporal {
  const { instance, times = {} } = options;
  const { client, ask, close } = connectTemporal(options);
  const handle = (workflowId: string) => client.workflow.getHandle(workflowId);
  return {
    startRun: (run) => ask(() => startRun({ client, instance, times }, run)),
    startWebhook: (start) => ask(() => startWebhook({ client, instance }, start)),
    signalStop: (workflowId, order) =>
      unlessMissing<'signalled' | 'gone'>('gone', async () => {
        await ask(() => handle(workflowId).signal<[StopOrder]>('stop', order));
        return 'signalled';
      }),
    describe: (workflowId) =>
      unlessMissing<WorkflowState>('missing', async () => {
        const { status } = await ask(() => handle(workflowId).describe());
        return closedStates.has(status.name) ? 'closed' : 'running';
      }),
    terminate: (workflowId, reason) =>
      unlessMissing(undefined, async () => {
        await ask(() => handle(workflowId).terminate(reason));
      }),
    // Not the SDK's own word on its connection: that one never changes after the first time.
    check: async () => void (await ask(() => client.workflowService.getSystemInfo({}))),
    close,
  };
}

const closedStates = new Set<string>([
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TERMINATED',
  'TIMED_OUT',
]);

async function unlessMissing<T>(missing: T, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return missing;
    throw error;
  }
}
