import { limits } from '../../../core/limits.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import type { ReconcilerDeps } from '../deps.ts';

/** Batches of each kind of row that one call deletes. */
const batchesMax = 5;

interface Retention {
  /** Deletes some overdue rows of each kind. True if none are left. */
  purgeRows(): Promise<boolean>;
  /** Deletes the unreferenced ones of the next blobs. True if all blobs were checked. */
  purgeBlobs(): Promise<boolean>;
  /** Adds changes of what projects store to the sums. True if none are left. */
  foldStoredBytes(): Promise<boolean>;
}

/** Deletes data whose retention has expired, a bounded amount per call. */
export function createRetention(
  deps: Pick<ReconcilerDeps, 'retention' | 'retentionTimes' | 'logger'>,
): Retention {
  const { retention, retentionTimes, logger } = deps;
  const { unreferencedTtlMs } = limits.blob;
  let blobsAfter = '';

  return {
    async purgeRows() {
      const purged = {
        keys: await inBatches(() => retention.expiredKeys()),
        logs: await inBatches(() => retention.logs(retentionTimes.runMs)),
        runFiles: await inBatches(() => retention.runFiles(retentionTimes.runMs)),
        sessionFiles: await inBatches(() => retention.sessionFiles(retentionTimes.sessionFilesMs)),
        messageFiles: await inBatches(() => retention.messageFiles()),
        flowFiles: await inBatches(() => retention.flowFiles()),
        webhookAttempts: await inBatches(() =>
          retention.webhookAttempts(retentionTimes.webhookAttemptsMs),
        ),
        modelCalls: await inBatches(() => retention.modelCalls(modelLimits.ledgerRetentionMs)),
        spending: await inBatches(() => retention.spending(modelLimits.ledgerRetentionMs)),
        deletedRuns: await inBatches(() => retention.tombstone(limits.retention.tombstoneTtlMs)),
      };
      const counts = Object.entries(purged).filter(([, { rows }]) => rows > 0);
      const rows = Object.fromEntries(counts.map(([kind, count]) => [kind, count.rows]));
      if (counts.length > 0) logger.info(rows, 'retention_applied');
      return Object.values(purged).every(({ isDone }) => isDone);
    },

    async purgeBlobs() {
      const batch = await retention.removeBlobs(unreferencedTtlMs, blobsAfter);
      blobsAfter = batch?.last ?? '';
      if (batch !== null && batch.removed > 0)
        logger.info({ blobs: batch.removed }, 'retention_applied');
      return batch === null;
    },

    foldStoredBytes: async () => (await retention.storedBytes()) < limits.retention.foldRows,
  };
}

async function inBatches(
  deleteBatch: () => Promise<number>,
): Promise<{ rows: number; isDone: boolean }> {
  let rows = 0;
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const deleted = await deleteBatch();
    if (deleted === 0) return { rows, isDone: true };
    rows += deleted;
  }
  return { rows, isDone: false };
}
