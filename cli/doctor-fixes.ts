// The doctor's fixes are the worker's own reconciliation steps, so they do nothing else. A worker
// may take the same step at the same time: every step is safe to run twice.

import type { DoctorConfig } from '../config/doctor-config.ts';
import { createLogger } from '../config/logger.ts';
import { hostThresholds } from '../core/hosts/host-thresholds.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import type { Pool } from '../systems/postgres/client/pool.ts';
import { createEventStore } from '../systems/postgres/endpoints/event-store.ts';
import { createJobStore } from '../systems/postgres/maintenance/job-store.ts';
import { createReconcileStore } from '../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createRunStore } from '../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import { createMessageStore } from '../systems/postgres/sessions/message-store.ts';
import type { Temporal } from '../systems/temporal/client.ts';
import type { ReconcilerDeps } from '../worker/reconciler/deps.ts';
import { createRetention } from '../worker/reconciler/jobs/retention.ts';
import { createScheduleSync } from '../worker/reconciler/jobs/sync-schedules.ts';
import { endRunsIfClosed } from '../worker/reconciler/runs/end-closed.ts';
import { createStopResender } from '../worker/reconciler/runs/resend-stop.ts';
import { createWebhookResumer } from '../worker/reconciler/runs/resume-webhooks.ts';
import { createMessageSignaller } from '../worker/reconciler/runs/signal-messages.ts';
import { startEvents } from '../worker/reconciler/runs/start-events.ts';
import { createUnstartedStarter } from '../worker/reconciler/runs/start-unstarted.ts';
import { reconcilerThresholds } from '../worker/reconciler/thresholds.ts';
import type { Fixes } from './doctor/types.ts';

/** More calls than a day's data needs; a worker removes the rest. */
const retentionCalls = 800;

export function createFixes(pool: Pool, config: DoctorConfig, temporal: Temporal | null): Fixes {
  const deps = stepDeps(pool, config);
  const step = (work: (deps: ReconcilerDeps) => Promise<void>) => async () =>
    work({ ...deps, temporal: requireTemporal(temporal) });
  return {
    registerSearchAttributes: async () => {
      await requireTemporal(temporal).ensureSearchAttributes();
    },
    startUnstarted: step((on) => createUnstartedStarter(on)()),
    resendStops: step((on) => createStopResender(on)()),
    endClosedRuns: (runIds) => step((on) => endClosedRuns(on, runIds))(),
    signalMessages: step((on) => createMessageSignaller(on)()),
    syncSchedules: step((on) => createScheduleSync(on)()),
    deliverWebhooks: step((on) => createWebhookResumer(on)()),
    startEvents: step(startEvents),
    async applyRetention(retention) {
      const { purgeRows, purgeBlobs } = createRetention({ ...deps, retentionTimes: retention });
      for (const purge of [purgeRows, purgeBlobs]) {
        let isDone = false;
        for (let calls = 0; calls < retentionCalls && !isDone; calls += 1) isDone = await purge();
      }
    },
  };
}

function requireTemporal(temporal: Temporal | null): Temporal {
  if (temporal === null) throw new Error('TEMPORAL_ADDRESS is not set here');
  return temporal;
}

function stepDeps(pool: Pool, { encryptionKey, times }: DoctorConfig) {
  const sealer = createSealer(encryptionKey);
  return {
    hostId: 'none',
    jobs: createJobStore(pool),
    reconcile: createReconcileStore(pool),
    runs: createRunStore(pool, sealer),
    webhooks: createWebhookStore(pool, sealer),
    events: createEventStore(pool, sealer),
    messages: createMessageStore(pool),
    schedules: createScheduleStore(pool),
    onStartsMissed: () => undefined,
    temporalIdentity: createTemporalIdentityStore(pool),
    retention: createRetentionStore(pool),
    // Readers also poll Postgres, and Redis expires entries automatically.
    frameStream: {
      notify: async () => false,
      expireEnded: async () => false,
      retryExpiries: async () => undefined,
    },
    listSandboxes: async () => [],
    removeSandbox: async () => undefined,
    removeOrphanedFolders: async () => undefined,
    logger: createLogger({ level: 'silent', name: 'doctor' }),
    renewedForMs: () => 0,
    now: () => new Date(),
    thresholds: reconcilerThresholds(times.reconcileEveryMs, hostThresholds(times.hostLostMs)),
    retentionTimes: { runMs: Infinity, sessionFilesMs: Infinity, webhookAttemptsMs: Infinity },
  };
}

/** Rechecks each run first, as the worker's own reconciler does. */
async function endClosedRuns(deps: ReconcilerDeps, runIds: string[]): Promise<void> {
  const found = await Promise.all(runIds.map((runId) => deps.runs.find(runId)));
  const runs = found.filter((run) => run !== null);
  await endRunsIfClosed(deps, runs);
}
