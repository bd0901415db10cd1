import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Run } from '../../../../core/runs/run.ts';
import { isSameTemporal } from '../../../../core/temporal/temporal-identity.ts';
import type { MemoRun } from '../../../../core/temporal/workflow-memo.ts';
import { createEventStore } from '../../../../systems/postgres/endpoints/event-store.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createJobStore } from '../../../../systems/postgres/maintenance/job-store.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../../../../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../../../../systems/postgres/maintenance/temporal-identity-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import {
  createWebhookStore,
  type WebhookStore,
} from '../../../../systems/postgres/runs/webhook-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import type { WorkflowState } from '../../../../systems/temporal/client.ts';
import type { ReconcilerDeps } from '../../../../worker/reconciler/deps.ts';
import { createRenewalStreak } from '../../../../worker/reconciler/hosts/renewal-streak.ts';
import { createReconciler } from '../../../../worker/reconciler/reconciler.ts';
import type { SandboxRef } from '../../../../workflows/shared/activities.ts';
import { type TestDatabase, testSealer } from '../../../support/database.ts';

const dayMs = 24 * 3_600_000;

/** Also of a flow that the database has lost. */
const unknownRun = (): MemoRun => ({
  runId: randomUUID(),
  flowId: randomUUID(),
  projectId: 'project-unknown',
  triggerType: 'api',
  timeoutSeconds: 60,
});

/** The real database, with fakes of Temporal and the engine that record their calls. */
export function createReconcilerFixture(database: TestDatabase) {
  const { pool } = database;
  const runs = createRunStore(pool, testSealer);
  const calls: string[] = [];
  const clock = { now: Date.now() };
  const workflows = new Map<string, WorkflowState>();
  /** When closed workflows were closed; without a time: long ago. */
  const closedAt = new Map<string, Date>();
  /** Run information in the inputs of the workflows. */
  const memos = new Map<string, MemoRun>();
  const sandboxes: (SandboxRef & { hostId: string })[] = [];
  const temporalIdentity = createTemporalIdentityStore(pool);
  /** The identity of the server, and whether it is the database's. */
  const server = { clusterId: 'c-1', namespaceId: 'n-1', namespace: 'default' };
  async function verifyIdentity(): Promise<void> {
    const known = await temporalIdentity.remember(server);
    if (!isSameTemporal(known, server)) throw new Error('another Temporal');
  }
  const temporal: ReconcilerDeps['temporal'] = {
    check: verifyIdentity,
    verifyIdentity,
    wasVerified: () => true,
    startRun: async (run: Run) => {
      calls.push(`start ${run.runId}`);
      return 'started';
    },
    signalMessage: async (run) => {
      calls.push(`message ${run.runId}`);
      return 'signalled';
    },
    stopRun: async ({ workflowId }) => {
      calls.push(`signal ${workflowId}`);
      return workflows.get(workflowId) === 'running' ? 'signalled' : 'gone';
    },
    signalHostLost: async (workflowId, { generation }) => {
      calls.push(`lost ${workflowId}-${generation}`);
      return 'signalled';
    },
    signalSleep: async (workflowId) => {
      calls.push(`sleep ${workflowId}`);
      return 'signalled';
    },
    describe: async (workflowId) => workflows.get(workflowId) ?? 'missing',
    hasFinished: async () => false,
    webhookAttempts: async () => 0,
    terminate: async (workflowId) => {
      calls.push(`terminate ${workflowId}`);
      workflows.set(workflowId, 'closed');
    },
    closedAt: async (workflowId) => closedAt.get(workflowId) ?? new Date(0),
    workflowsSince: async () => ({
      workflows: [...workflows].map(([workflowId, state]) => ({
        workflowId,
        isOpen: state === 'running',
        startedAt: new Date(clock.now),
        closedAt: state === 'running' ? null : new Date(clock.now),
        run: memos.get(workflowId) ?? unknownRun(),
      })),
      next: null,
    }),
    closedWorkflows: async () => ({
      workflowIds: [...workflows].flatMap(([id, state]) => (state === 'closed' ? [id] : [])),
      next: null,
    }),
    ensureSchedule: async (flowId, { cron, timezone, isPaused }) => {
      calls.push(`schedule ${flowId} ${cron} ${timezone}${isPaused ? ' paused' : ''}`);
      return 0;
    },
    removeSchedule: async (flowId) => {
      calls.push(`unschedule ${flowId}`);
    },
    startEvent: async ({ eventId, delivery }) => {
      calls.push(`event ${eventId} ${delivery}`);
      return 'started';
    },
    startWebhook: async ({ runId, firstAttempt, delivery }) => {
      const which = delivery === undefined ? 'webhook' : `redelivery ${delivery} of`;
      calls.push(`${which} ${runId} from ${firstAttempt}`);
      return 'started';
    },
  };
  const now = (): Date => new Date(clock.now);
  const renewals = createRenewalStreak({ gapMs: 15_000, now });
  const deps: ReconcilerDeps & { webhooks: WebhookStore } = {
    hostId: 'host-here',
    jobs: createJobStore(pool),
    reconcile: createReconcileStore(pool),
    runs,
    webhooks: createWebhookStore(pool, testSealer),
    events: createEventStore(pool, testSealer),
    messages: createMessageStore(pool),
    schedules: createScheduleStore(pool),
    onStartsMissed: ({ reason, count }) => {
      calls.push(`missed ${count} ${reason}`);
    },
    temporalIdentity,
    retention: createRetentionStore(pool),
    frameStream: {
      notify: async () => true,
      expireEnded: async () => true,
      retryExpiries: async () => {},
    },
    temporal,
    listSandboxes: async () => [...sandboxes],
    removeSandbox: async ({ runId, generation }) => {
      calls.push(`remove ${runId}-${generation}`);
    },
    removeOrphanedFolders: async () => {},
    logger: pino({ level: 'silent' }),
    renewedForMs: renewals.forMs,
    now,
    thresholds: {
      everyMs: 0,
      unstartedMs: 0,
      resendAfterMs: 0,
      resendEveryMs: 60_000,
      stuckMs: 3_600_000,
      hostLostMs: 60_000,
      hostWatchMs: 30_000,
      webhookMs: 60_000,
      overdueMs: 0,
    },
    retentionTimes: { runMs: 30 * dayMs, sessionFilesMs: 7 * dayMs, webhookAttemptsMs: 30 * dayMs },
  };
  return {
    deps,
    runs,
    hosts: createHostStore(pool),
    calls,
    workflows,
    closedAt,
    memos,
    sandboxes,
    server,
    temporalIdentity,
    clock,
    renewals,
    reconciler: createReconciler(deps),
    /** As if the API had started it. */
    async started(run: Run): Promise<Run> {
      workflows.set(run.workflowId, 'running');
      await runs.markWorkflowStarted(run.runId);
      return run;
    },
    async read(run: Run): Promise<Run> {
      const found = await runs.find(run.runId);
      if (!found) throw new Error('the run is gone');
      return found;
    },
  };
}
