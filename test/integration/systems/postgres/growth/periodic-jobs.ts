// Everything that recurs by time: heartbeats, the reconciler, retention and metrics.

import { createKeyStore } from '../../../../../systems/postgres/accounts/key-store.ts';
import { createKeyUsageStore } from '../../../../../systems/postgres/accounts/key-usage-store.ts';
import { createAdmission } from '../../../../../systems/postgres/admission/admission.ts';
import type { Pool } from '../../../../../systems/postgres/client/pool.ts';
import { createEventStore } from '../../../../../systems/postgres/endpoints/event-store.ts';
import { createFleetStore } from '../../../../../systems/postgres/hosts/fleet-store.ts';
import { createHostRpcStore } from '../../../../../systems/postgres/hosts/host-rpc-store.ts';
import { createHostStore } from '../../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import { createJobStore } from '../../../../../systems/postgres/maintenance/job-store.ts';
import { createReconcileStore } from '../../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../../../../../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../../../../../systems/postgres/maintenance/schedule-store.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../../systems/postgres/sessions/message-store.ts';
import { testSealer } from '../../../../support/database.ts';
import type { Call } from './count-blocks.ts';
import type { Subjects } from './subjects.ts';

const graceMs = 10_000;
const monthMs = 30 * 24 * 3_600_000;

export const periodicJobs = (of: Subjects): Record<string, Call> => ({
  ...hostCalls(of),
  ...reconcilerCalls(),
  ...retentionCalls(),
});

function hostCalls({ running, awake }: Subjects): Record<string, Call> {
  const runIds = [running.runId, awake.runId];
  const runs = (pool: Pool) => createRunStore(pool, testSealer);
  const open = { hostId: 'h-1', served: [], paced: { kind: 'files', runIds: [] }, limit: 10 };
  return {
    'send a heartbeat': (pool) =>
      createHostStore(pool).renew({ hostId: 'h-1', name: 'h', capacity: 1_000 }),
    'list the hosts': (pool) => createHostStore(pool).list(),
    'list the runs on a host': (pool) => runs(pool).activeOnHost('h-1'),
    'list the sandboxes of a host': (pool) => runs(pool).neededOnHost('h-1'),
    'list the open requests to a host': (pool) => createHostRpcStore(pool).listOpen(open),
    'remove expired requests': (pool) => createHostRpcStore(pool).removeExpired(),
    'poll the progress of runs': (pool) => createFrameStore(pool).progressOfRuns(runIds),
    'check the keys of readers': (pool) => createKeyStore(pool).activeOf([running.runId]),
    'purge the usage of keys': (pool) => createKeyUsageStore(pool).purge(),
    'count for metrics': (pool) => createFleetStore(pool, 30_000).count(),
  };
}

function reconcilerCalls(): Record<string, Call> {
  const reconcile = (pool: Pool) => createReconcileStore(pool);
  const admission = (pool: Pool) => createAdmission(pool, testSealer);
  const leaving = { lostMs: 120_000, drainGraceMs: graceMs, staleMs: 30_000 };
  return {
    'claim a job': (pool) =>
      createJobStore(pool).claim({ name: 'runs', leader: 'h-1', leaseMs: 1_000 }),
    'find unstarted runs': (pool) => reconcile(pool).unstarted(graceMs),
    'find unfinished stops': (pool) => reconcile(pool).unfinishedStops(graceMs),
    'list active runs': (pool) => reconcile(pool).activeRuns(100),
    'find runs on lost hosts': (pool) => reconcile(pool).runsOnLostHosts(120_000),
    'find sessions on lost hosts': (pool) => reconcile(pool).sessionsOnLostHosts(120_000),
    'find runs to move': (pool) => reconcile(pool).unstartedOnLeavingHosts(leaving),
    'find idle sessions on leaving hosts': (pool) => reconcile(pool).idleOnLeavingHosts(),
    'find pending webhooks': (pool) => reconcile(pool).pendingWebhooks(graceMs),
    'take events to start': (pool) => createEventStore(pool, testSealer).takeDue(),
    'find a pending restore': (pool) => reconcile(pool).pendingRestore(),
    'find runs of closed workflows': (pool) => reconcile(pool).activeRunsOf(['grown/9', 'none']),
    'find messages without a signal': (pool) => createMessageStore(pool).unsignalled(graceMs),
    'find schedules to sync': (pool) => createScheduleStore(pool).unsynced(),
    'assign slots': (pool) => admission(pool).assignWaiting(),
    'find unclaimed slots': (pool) => admission(pool).findUnclaimed(),
    'find sessions to evict': (pool) => admission(pool).findEvictableOnHosts(),
  };
}

/** Nothing is overdue. */
function retentionCalls(): Record<string, Call> {
  const retention = (pool: Pool) => createRetentionStore(pool);
  return {
    'purge keys': (pool) => retention(pool).expiredKeys(),
    'purge logs': (pool) => retention(pool).logs(monthMs),
    'purge files of runs': (pool) => retention(pool).runFiles(monthMs),
    'purge files of sessions': (pool) => retention(pool).sessionFiles(monthMs),
    'purge files of messages': (pool) => retention(pool).messageFiles(),
    'purge files of flows': (pool) => retention(pool).flowFiles(),
    'purge webhook attempts': (pool) => retention(pool).webhookAttempts(monthMs),
    'purge webhook events': (pool) => retention(pool).webhookEvents(monthMs),
    'purge model calls': (pool) => retention(pool).modelCalls(monthMs),
    'purge sums of the ledger': (pool) => retention(pool).spending(monthMs),
    'pack logs': (pool) => retention(pool).packLogs(monthMs),
    'purge deleted runs': (pool) => retention(pool).tombstone(monthMs),
    'add up stored bytes': (pool) => retention(pool).storedBytes(),
  };
}
