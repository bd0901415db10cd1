import { packingLimits } from '../../../core/frames/packing-limits.ts';
import type { Unpurged } from '../../../systems/postgres/maintenance/purge-together.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { stepDeadline } from '../step-deadline.ts';

/**
 * Packs the logs of some ended runs. Returns true if none are left. Once the time of the step is
 * over or the signal has aborted, begins no further transaction, and the next call continues.
 */
export function createPacking({
  retention,
  logger,
}: Pick<ReconcilerDeps, 'retention' | 'logger'>): (signal: AbortSignal) => Promise<boolean> {
  /** Skipped until no others are left; the next call begins with them. */
  const unpacked: Unpurged = new Map();

  return async (signal) => {
    const deadline = stepDeadline();
    const isOver = (): boolean => signal.aborted || deadline.isOver();
    const before = unpacked.size;
    const stored = await retention.packLogs(packingLimits.afterMs, unpacked, isOver);
    if (stored > 0 || unpacked.size > before) return false;
    for (const [runId, err] of unpacked)
      if (err !== 'locked') logger.warn({ err, runId }, 'packing_failed');
    unpacked.clear();
    return true;
  };
}
