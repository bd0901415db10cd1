import { limits } from '../../../core/limits.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import type { BlobPage } from '../../../systems/postgres/maintenance/retention-store.ts';
import type { ReconcilerDeps } from '../deps.ts';

/** Small batches: removing today's rows matters less than starting new runs. */
const batchesPerPass = 20;

/**
 * Removes data whose retention has expired. Each pass removes a few batches of each kind. When
 * nothing is left it pauses. All blobs are checked once a day.
 */
export function createRetentionJob(
  deps: Pick<ReconcilerDeps, 'retention' | 'retentionTimes' | 'logger' | 'now'>,
): () => Promise<void> {
  const { retention, logger } = deps;
  const { retentionTimes } = deps;
  let nextAt = 0;
  let nextBlobsAt = 0;
  let blobsAfter = '';

  async function purgeRows(): Promise<boolean> {
    const purged = {
      keys: await inBatches(() => retention.expiredKeys()),
      logs: await inBatches(() => retention.log(retentionTimes.runMs)),
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
  }

  async function purgeBlobs(): Promise<boolean> {
    const page = await retention.unreferencedBlobs(limits.blob.unreferencedTtlMs, blobsAfter);
    if (page) await removeAll(page);
    blobsAfter = page?.last ?? '';
    return page === null;
  }

  async function removeAll({ unreferenced }: BlobPage): Promise<void> {
    let removed = 0;
    for (const sha256 of unreferenced) {
      if (await retention.removeBlob(limits.blob.unreferencedTtlMs, sha256)) removed += 1;
    }
    if (removed > 0) logger.info({ blobs: removed }, 'retention_applied');
  }

  return async () => {
    const now = deps.now().getTime();
    if (now >= nextAt && (await purgeRows())) nextAt = now + limits.retention.everyMs;
    if (now >= nextBlobsAt && (await purgeBlobs())) nextBlobsAt = now + limits.blob.gcEveryMs;
  };
}

async function inBatches(
  deleteBatch: () => Promise<number>,
): Promise<{ rows: number; isDone: boolean }> {
  let rows = 0;
  for (let batch = 0; batch < batchesPerPass; batch += 1) {
    const deleted = await deleteBatch();
    if (deleted === 0) return { rows, isDone: true };
    rows += deleted;
  }
  return { rows, isDone: false };
}
