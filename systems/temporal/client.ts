import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { ScheduleTimes } from '../../core/flows/schedule-state.ts';
import type { SearchAttributeName } from '../../core/temporal/search-attribute-names.ts';
import type { TemporalIdentity } from '../../core/temporal/temporal-identity.ts';
import type { DeliverEventInput, DeliverWebhookInput } from '../../workflows/shared/activities.ts';
import type { SessionTimeouts } from '../../workflows/shared/session-timeouts.ts';
import type { HostLostPayload, InterruptPayload } from '../../workflows/shared/signals.ts';
import { type ClosedWorkflowsPage, closedWorkflows } from './closed-workflows.ts';
import { connectTemporal, type TemporalAddress } from './connect.ts';
import { hasFinished } from './has-finished.ts';
import { readIdentity } from './identity.ts';
import { createIdentityGuard, type IdentityGuard, type StoredIdentity } from './identity-guard.ts';
import { openWorkflows } from './open-workflows.ts';
import {
  ensureSchedule,
  readScheduleTimes,
  removeSchedule,
  type WantedSchedule,
} from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { type EventStart, startEvent } from './start-event.ts';
import { createRunStarter, type RunStarter } from './start-run.ts';
import { startWebhook } from './start-webhook.ts';
import { webhookAttempts } from './webhook-attempts.ts';
import { type WorkflowsSincePage, workflowsSince } from './workflows-since.ts';

export interface TemporalOptions extends TemporalAddress {
  instance: string;
  /** The service's own URL, for links in Temporal's web interface. */
  publicUrl?: string;
  timeouts?: Partial<SessionTimeouts>;
  /** Without it, every Temporal is accepted. */
  storedIdentity?: StoredIdentity;
}

export type WorkflowState = 'running' | 'closed' | 'missing';

export interface Temporal extends RunStarter {
  /** Ends the turn of the message. */
  signalInterrupt(workflowId: string, turn: { messageId: string }): Promise<'signalled' | 'gone'>;
  signalSleep(workflowId: string): Promise<'signalled' | 'gone'>;
  /** The run has got the slot that it waited for. */
  signalSlotAssigned(workflowId: string): Promise<'signalled' | 'gone'>;
  /** The session may have messages that its workflow was not notified of. */
  signalWork(workflowId: string): Promise<'signalled' | 'gone'>;
  signalHostLost(workflowId: string, lost: HostLostPayload): Promise<'signalled' | 'gone'>;
  describe(workflowId: string): Promise<WorkflowState>;
  /** Whether the workflow closed at the end of its run, and not by an error or an operator. */
  hasFinished(workflowId: string): Promise<boolean>;
  /** Null if the workflow is open or does not exist. */
  closedAt(workflowId: string): Promise<Date | null>;
  /** How many delivery attempts the workflow has made, or had made when it was terminated. */
  webhookAttempts(workflowId: string): Promise<number>;
  /** Requests the workflow's cancellation. Without an open workflow it changes nothing. */
  cancel(workflowId: string): Promise<void>;
  /** Ends a workflow that cannot end itself. A second call changes nothing. */
  terminate(workflowId: string, reason: string): Promise<void>;
  /** The ids of this instance's runs and sessions. Recently started ones may be missing. */
  openWorkflows(): Promise<string[]>;
  /**
   * One page of the workflows that closed after `since` and before their runs had ended. Recently
   * closed ones may be missing.
   */
  closedWorkflows(since: Date, after: Uint8Array | null): Promise<ClosedWorkflowsPage>;
  /** One page of the open workflows and those started since then. */
  workflowsSince(since: Date, after: Uint8Array | null): Promise<WorkflowsSincePage>;
  /** Returns how many starts Temporal has skipped. */
  ensureSchedule(flowId: string, schedule: WantedSchedule): Promise<number>;
  /** Null if Temporal does not have the schedule. */
  readScheduleTimes(flowId: string): Promise<ScheduleTimes | null>;
  removeSchedule(flowId: string): Promise<void>;
  /** Registers missing search attributes and returns them. */
  ensureSearchAttributes(): Promise<SearchAttributeName[]>;
  startWebhook(webhook: DeliverWebhookInput): Promise<'started' | 'already'>;
  /** Starts the workflow of this delivery unless it has ended. */
  startEvent(event: DeliverEventInput): Promise<EventStart>;
  /** The server's version, from a new request. */
  version(): Promise<string>;
  /** Throws if the server does not answer, or is not the one that the database belongs to. */
  check(): Promise<void>;
  /** The same, and reads the identity that the database stores again. */
  verifyIdentity(): Promise<void>;
  /** Whether a check has succeeded since the start of this process. */
  wasVerified(): boolean;
  /** False from a request that failed because of an outage until a check succeeds. */
  isReachable(): boolean;
  identity(): Promise<TemporalIdentity>;
  close(): Promise<void>;
}

export function createTemporal(options: TemporalOptions): Temporal {
  const { instance, namespace, publicUrl = null, timeouts = {} } = options;
  const { client, operator, identity, guard, withDeadline, close } = connectGuarded(options);
  const handle = (workflowId: string) => client.workflow.getHandle(workflowId);
  const signal = (send: (workflow: WorkflowHandle) => Promise<void>, workflowId: string) =>
    orWhenNotFound<'signalled' | 'gone'>('gone', async () => {
      await withDeadline(() => send(handle(workflowId)));
      return 'signalled';
    });
  // The SDK caches the system info of its connection, so the request is made here.
  const version = async (): Promise<string> => {
    const { serverVersion } = await withDeadline(() => client.workflowService.getSystemInfo({}));
    return serverVersion;
  };
  return {
    ...createRunStarter({ client, instance, timeouts, publicUrl, withDeadline }),
    startEvent: (event) => withDeadline(() => startEvent({ client, instance }, event)),
    startWebhook: (webhook) => withDeadline(() => startWebhook({ client, instance }, webhook)),
    ensureSchedule: (flowId, schedule) =>
      withDeadline(() => ensureSchedule({ client, instance }, flowId, schedule)),
    readScheduleTimes: (flowId) =>
      withDeadline(() => readScheduleTimes({ client, instance }, flowId)),
    removeSchedule: (flowId) => withDeadline(() => removeSchedule({ client, instance }, flowId)),
    ensureSearchAttributes: () =>
      withDeadline(() => ensureSearchAttributes({ operator, namespace })),
    signalInterrupt: (workflowId, turn) =>
      signal((workflow) => workflow.signal<[InterruptPayload]>('interrupt', turn), workflowId),
    signalSleep: (workflowId) => signal((workflow) => workflow.signal('sleep'), workflowId),
    signalSlotAssigned: (workflowId) =>
      signal((workflow) => workflow.signal('slotAssigned'), workflowId),
    signalWork: (workflowId) => signal((workflow) => workflow.signal('message'), workflowId),
    signalHostLost: (workflowId, lost) =>
      signal((workflow) => workflow.signal<[HostLostPayload]>('hostLost', lost), workflowId),
    openWorkflows: () => openWorkflows({ client, instance }),
    closedWorkflows: (since, after) =>
      withDeadline(() => closedWorkflows({ client, instance }, { since, after })),
    workflowsSince: (since, after) =>
      withDeadline(() => workflowsSince({ client, instance }, { since, after })),
    hasFinished: (workflowId) =>
      orWhenNotFound(false, () => withDeadline(() => hasFinished(handle(workflowId)))),
    ...describeWorkflows((workflowId) => withDeadline(() => handle(workflowId).describe())),
    cancel: (workflowId) =>
      orWhenNotFound(undefined, async () => {
        await withDeadline(() => handle(workflowId).cancel());
      }),
    terminate: (workflowId, reason) =>
      orWhenNotFound(undefined, async () => {
        await withDeadline(() => handle(workflowId).terminate(reason));
      }),
    version,
    check: guard.check,
    verifyIdentity: guard.verify,
    wasVerified: guard.wasVerified,
    isReachable: guard.isReachable,
    identity,
    close,
  };
}

function describeWorkflows(
  describe: (workflowId: string) => ReturnType<WorkflowHandle['describe']>,
): Pick<Temporal, 'describe' | 'closedAt' | 'webhookAttempts'> {
  return {
    describe: (workflowId) =>
      orWhenNotFound<WorkflowState>('missing', async () =>
        closedStates.has((await describe(workflowId)).status.name) ? 'closed' : 'running',
      ),
    closedAt: (workflowId) =>
      orWhenNotFound(null, async () => (await describe(workflowId)).closeTime ?? null),
    webhookAttempts: (workflowId) =>
      orWhenNotFound(0, async () => webhookAttempts(await describe(workflowId))),
  };
}

/** Every call with a deadline is made only after the identity was checked. */
function connectGuarded(options: TemporalOptions) {
  const connected = connectTemporal(options);
  const { client } = connected;
  const { namespace, storedIdentity } = options;
  const identity = () => connected.withDeadline(() => readIdentity({ client, namespace }));
  const guard = storedIdentity ? createIdentityGuard(identity, storedIdentity) : noGuard(identity);
  const withDeadline = <T>(call: () => Promise<T>): Promise<T> =>
    guard.run(() => connected.withDeadline(call));
  return { ...connected, identity, guard, withDeadline };
}

const noGuard = (identity: () => Promise<TemporalIdentity>): IdentityGuard => ({
  check: async () => void (await identity()),
  verify: async () => void (await identity()),
  wasVerified: () => true,
  isReachable: () => true,
  run: (request) => request(),
});

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
