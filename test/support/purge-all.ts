import type { Unpurged } from '../../systems/postgres/maintenance/purge-together.ts';

/**
 * Purges until no rows are left. Waits for locked runs: the API may still be marking their start.
 * `onBatch` runs after each call that deleted rows.
 */
export async function purgeAll(
  purge: (unpurged: Unpurged) => Promise<number>,
  onBatch: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const unpurged: Unpurged = new Map();
  for (;;) {
    const skipped = unpurged.size;
    const rows = await purge(unpurged);
    if (rows > 0) await onBatch();
    if (rows > 0 || unpurged.size > skipped) continue;
    if (unpurged.size === 0) return;
    for (const reason of unpurged.values()) if (reason !== 'locked') throw reason;
    unpurged.clear();
  }
}
