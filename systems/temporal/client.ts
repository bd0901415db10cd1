import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { Schedule } from '../../core/flows/schedule.ts';
import type { Run } from '../../core/runs/run.ts';
import type { SearchAttributeName } from '../../core/temporal/search-attributes.ts';
import type { DeliverWebhookInput } from '../../workflows/shared/activities.ts';
import type { SessionTimeouts } from '../../workflows/shared/session-timeouts.ts';
import type {
  HostLostPayload,
  InterruptPayload,
  StopSignalPayload,
} from '../../workflows/shared/signals.ts';
import { connectTemporal, type TemporalAddress } from './connect.ts';
import { openWorkflows } from './open-workflows.ts';
import { ensureSchedule, removeSchedule } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { signalMessage, startRun } from './start-run.ts';
import { startWebhook } from './start-webhook.ts';
import { webhookAttempts } from './webhook-attempts.ts';
import { type ListedWorkflow, workflowsSince } from './workflows-since.ts';

export interface TemporalOptions extends TemporalAddress {
  instance: string;
  /** The service's own address, for whoever meets its runs in Temporal's tools. */
  publicUrl?: string;
  timeouts?: Partial<SessionTimeouts>;
}

export type WorkflowState = 'running' | 'closed' | 'missing';

export interface Temporal {
  startRun(run: Run): Promise<'started' | 'already'>;
  signalStop(workflowId: string, order: StopSignalPayload): Promise<'signalled' | 'gone'>;
  /** Starts the session's workflow where it was not. */
  signalMessage(run: Run, messageId: string): Promise<'signalled' | 'gone'>;
  /** Of which message the turn is to be ended. */
  signalInterrupt(workflowId: string, turn: { messageId: string }): Promise<'signalled' | 'gone'>;
  signalSleep(workflowId: string): Promise<'signalled' | 'gone'>;
  signalHostLost(workflowId: string, lost: HostLostPayload): Promise<'signalled' | 'gone'>;
  describe(workflowId: string): Promise<WorkflowState>;
  /** Whether it came to its own end, all that it had to do done. */
  hasCompleted(workflowId: string): Promise<boolean>;
  /** How many attempts at its webhook it had made when it was cut off, or has made by now. */
  webhookAttempts(workflowId: string): Promise<number>;
  /** Ends a workflow that can no longer end itself. A second call changes nothing. */
  terminate(workflowId: string, reason: string): Promise<void>;
  /** Of the runs and sessions of this instance; what was started a moment ago may be missing. */
  openWorkflows(): Promise<string[]>;
  /** Those, and what was started since then and is over; a page at a time. */
  workflowsSince(since: Date): AsyncIterable<ListedWorkflow[]>;
  ensureSchedule(flowId: string, schedule: Schedule): Promise<void>;
  removeSchedule(flowId: string): Promise<void>;
  /** Registers what operators find workflows by; returns what was missing. */
  ensureSearchAttributes(): Promise<SearchAttributeName[]>;
  startWebhook(webhook: DeliverWebhookInput): Promise<'started' | 'already'>;
  /** The server's, asked now. */
  version(): Promise<string>;
  /** Does the server answer, now? */
  check(): Promise<void>;
  close(): Promise<void>;
}

export function createTemporal(options: TemporalOptions): Temporal {
  const { instance, namespace, publicUrl = null, timeouts = {} } = options;
  const { client, operator, withDeadline: ask, close } = connectTemporal(options);
  const starter = { client, instance, timeouts, publicUrl };
  const handle = (workflowId: string) => client.workflow.getHandle(workflowId);
  const signal = (send: (to: WorkflowHandle) => Promise<void>, workflowId: string) =>
    orWhenNotFound<'signalled' | 'gone'>('gone', async () => {
      await ask(() => send(handle(workflowId)));
      return 'signalled';
    });
  const describe = (workflowId: string) => ask(() => handle(workflowId).describe());
  const statusOf = async (workflowId: string): Promise<string> =>
    (await describe(workflowId)).status.name;
  // Not the SDK's own word on its connection: that one never changes after the first time.
  const version = async (): Promise<string> => {
    const { serverVersion } = await ask(() => client.workflowService.getSystemInfo({}));
    return serverVersion;
  };
  return {
    startRun: (run) => ask(() => startRun(starter, run)),
    startWebhook: (start) => ask(() => startWebhook({ client, instance }, start)),
    ensureSchedule: (flowId, schedule) =>
      ask(() => ensureSchedule({ client, instance }, flowId, schedule)),
    removeSchedule: (flowId) => ask(() => removeSchedule({ client, instance }, flowId)),
    ensureSearchAttributes: () => ask(() => ensureSearchAttributes({ operator, namespace })),
    signalStop: (workflowId, order) =>
      signal((to) => to.signal<[StopSignalPayload]>('stop', order), workflowId),
    signalMessage: (run, messageId) => ask(() => signalMessage(starter, run, messageId)),
    signalInterrupt: (workflowId, turn) =>
      signal((to) => to.signal<[InterruptPayload]>('interrupt', turn), workflowId),
    signalSleep: (workflowId) => signal((to) => to.signal('sleep'), workflowId),
    signalHostLost: (workflowId, lost) =>
      signal((to) => to.signal<[HostLostPayload]>('hostLost', lost), workflowId),
    openWorkflows: () => openWorkflows({ client, instance }),
    workflowsSince: (since) => workflowsSince({ client, instance }, since),
    describe: (workflowId) =>
      orWhenNotFound<WorkflowState>('missing', async () =>
        closedStates.has(await statusOf(workflowId)) ? 'closed' : 'running',
      ),
    hasCompleted: (workflowId) =>
      orWhenNotFound(false, async () => (await statusOf(workflowId)) === 'COMPLETED'),
    webhookAttempts: (workflowId) =>
      orWhenNotFound(0, async () => webhookAttempts(await describe(workflowId))),
    terminate: (workflowId, reason) =>
      orWhenNotFound(undefined, async () => {
        await ask(() => handle(workflowId).terminate(reason));
      }),
    version,
    check: async () => void (await version()),
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

async function orWhenNotFound<T>(missing: T, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return missing;
    throw error;
  }
}
