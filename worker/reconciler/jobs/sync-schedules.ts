import type { UnsyncedSchedule } from '../../../systems/postgres/maintenance/schedule-store.ts';
import type { ReconcilerDeps } from '../deps.ts';

/**
 * Applies every new, changed or removed schedule to Temporal. Once after a start it applies all of
 * them, in case Temporal has lost some. Safe to repeat.
 */
export function createScheduleSync(deps: ReconcilerDeps): () => Promise<void> {
  let hasFullSync = false;

  async function sync(unsynced: UnsyncedSchedule): Promise<void> {
    const { flowId, schedule, version } = unsynced;
    try {
      if (schedule === null) await deps.temporal.removeSchedule(flowId);
      else await deps.temporal.ensureSchedule(flowId, schedule);
      await deps.schedules.markSynced(unsynced);
      deps.logger.info({ flowId, version, isOn: schedule !== null }, 'schedule_synced');
    } catch (err) {
      deps.logger.warn({ err, flowId }, 'schedule_sync_failed');
    }
  }

  return async () => {
    if (!hasFullSync) await deps.schedules.resyncAll();
    hasFullSync = true;
    for (const unsynced of await deps.schedules.unsynced()) await sync(unsynced);
  };
}
