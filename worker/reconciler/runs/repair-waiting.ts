import type { SlotAssigner } from '../../../activities/assign-slots.ts';
import { createCoalescingRunner } from '../../../lib/async/coalescing-runner.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { createJobLease } from '../job-lease.ts';

interface RepairDeps extends Pick<ReconcilerDeps, 'hostId' | 'jobs' | 'logger'> {
  slots: Pick<SlotAssigner, 'repair'>;
  /** Between two heartbeats. */
  everyMs: number;
}

interface WaitingRepairer {
  trigger(): void;
  close(): Promise<void>;
}

/**
 * The end of a run assigns its slot to the next one. This repeats it with each heartbeat while runs
 * wait: a host may be new, back or no longer draining, a session may have become idle, or a process
 * died before it sent its signals. One worker does it for all hosts.
 */
export function createWaitingRepairer({ slots, everyMs, ...deps }: RepairDeps): WaitingRepairer {
  const lease = createJobLease(deps, 'slots', everyMs);
  const onError = (err: unknown): void => deps.logger.warn({ err }, 'waiting_runs_repair_failed');
  const runner = createCoalescingRunner({
    async step() {
      if (await lease.claim()) await slots.repair();
    },
    onError,
  });
  return {
    trigger: runner.trigger,
    async close() {
      runner.close();
      await lease.release(0).catch(onError);
    },
  };
}
