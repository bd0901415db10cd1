import { limits } from '../../../core/limits.ts';
import type { UnsyncedSchedule } from '../../../systems/postgres/maintenance/schedule-store.ts';
import type { Temporal } from '../../../systems/temporal/client.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { createJobLease } from '../job-lease.ts';
import { stepDeadline } from '../step-deadline.ts';

/**
 * Applies every new, changed or removed schedule to Temporal, and all of them periodically, in case
 * Temporal has lost some. Safe to repeat. The next pass continues after the last schedule, so that
 * those whose sync fails do not delay the others.
 */
export function createScheduleSync(deps: ReconcilerDeps): () => Promise<void> {
  const { schedulesEveryMs, jobPollMs } = limits.reconciler;
  const lease = createJobLease(deps, 'schedules');
  let claimAt = 0;
  let after: string | undefined;

  /** Once per period over all workers. */
  async function resyncAll(): Promise<void> {
    if (!(await lease.claim())) return;
    await deps.schedules.resyncAll();
    await lease.release(schedulesEveryMs);
  }

  async function sync(unsynced: UnsyncedSchedule): Promise<void> {
    const { flowId, version } = unsynced;
    try {
      const skippedStarts = await apply(deps.temporal, unsynced);
      const skipped = await deps.schedules.markSynced(unsynced, skippedStarts);
      const isOn = unsynced.schedule !== null && !unsynced.isPaused;
      deps.logger.info({ flowId, version, isOn }, 'schedule_synced');
      if (skipped !== null) deps.onStartsMissed({ ...skipped, flowId, reason: 'late' });
    } catch (err) {
      deps.logger.warn({ err, flowId }, 'schedule_sync_failed');
    }
  }

  return async () => {
    const now = deps.now().getTime();
    if (now >= claimAt) {
      await resyncAll();
      claimAt = now + jobPollMs;
    }
    const deadline = stepDeadline();
    for (const unsynced of await deps.schedules.unsynced(after)) {
      if (deadline.isOver()) return;
      after = unsynced.flowId;
      await sync(unsynced);
    }
  };
}

/** Returns how many starts Temporal has skipped. */
async function apply(
  temporal: Pick<Temporal, 'ensureSchedule' | 'removeSchedule'>,
  { flowId, schedule, isPaused }: UnsyncedSchedule,
): Promise<number> {
  if (schedule !== null) return temporal.ensureSchedule(flowId, { ...schedule, isPaused });
  await temporal.removeSchedule(flowId);
  return 0;
}
