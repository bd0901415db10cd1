import { packingLimits } from '../../../core/frames/packing-limits.ts';
import type { Unpurged } from '../../../systems/postgres/maintenance/purge-together.ts';
import type { ReconcilerDeps } from '../deps.ts';

/** Packs the logs of some ended runs. Returns true if none are left. */
export function createPacking({
  retention,
  logger,
}: Pick<ReconcilerDeps, 'retention' | 'logger'>): () => Promise<boolean> {
  /** Skipped until no others are left; the next call begins with them. */
  const unpacked: Unpurged = new Map();

  return async () => {
    const before = unpacked.size;
    const stored = await retention.packLogs(packingLimits.afterMs, unpacked);
    if (stored > 0 || unpacked.size > before) return false;
    for (const [runId, err] of unpacked)
      if (err !== 'locked') logger.warn({ err, runId }, 'packing_failed');
    unpacked.clear();
    return true;
  };
}
