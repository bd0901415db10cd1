import { limits } from '../../../core/limits.ts';
import type { BlobPage } from '../../../systems/postgres/maintenance/retention-store.ts';
import type { ReconcilerDeps } from '../deps.ts';

/** What an operator may change; the rest is in the limits. */
export interface Kept {
  /** The log and the files of a run, after its end. */
  runMs: number;
  /** The files and the conversation of a session, after its end. */
  sessionFilesMs: number;
  webhookAttemptsMs: number;
}

/** Small pieces at a time: what is swept today matters less than what is to start now. */
const piecesAPass = 20;

/**
 * Removes what has been kept for long enough. Every pass does a few pieces of each kind until
 * nothing is left, and then rests; the blobs are gone through once a day.
 */
export function createSweeper(
  deps: Pick<ReconcilerDeps, 'retention' | 'kept' | 'logger' | 'now'>,
): () => Promise<void> {
  const { retention, logger } = deps;
  const { kept } = deps;
  let nextAt = 0;
  let nextBlobsAt = 0;
  let blobsAfter = '';

  async function sweepRows(): Promise<boolean> {
    const swept = {
      keys: await inPieces(() => retention.expiredKeys()),
      logs: await inPieces(() => retention.log(kept.runMs)),
      runFiles: await inPieces(() => retention.runFiles(kept.runMs)),
      sessionFiles: await inPieces(() => retention.sessionFiles(kept.sessionFilesMs)),
      webhookAttempts: await inPieces(() => retention.webhookAttempts(kept.webhookAttemptsMs)),
      deletedRuns: await inPieces(() => retention.tombstone(limits.tombstoneTtlMs)),
    };
    const counts = Object.entries(swept).filter(([, { rows }]) => rows > 0);
    const rows = Object.fromEntries(counts.map(([kind, count]) => [kind, count.rows]));
    if (counts.length > 0) logger.info(rows, 'swept');
    return Object.values(swept).every(({ isDone }) => isDone);
  }

  async function sweepBlobs(): Promise<boolean> {
    const page = await retention.unnamedBlobs(limits.unreferencedBlobTtlMs, blobsAfter);
    if (page) await removeAll(page);
    blobsAfter = page?.last ?? '';
    return page === null;
  }

  async function removeAll({ unnamed }: BlobPage): Promise<void> {
    let removed = 0;
    for (const sha256 of unnamed) {
      if (await retention.removeBlob(limits.unreferencedBlobTtlMs, sha256)) removed += 1;
    }
    if (removed > 0) logger.info({ blobs: removed }, 'swept');
  }

  return async () => {
    const now = deps.now().getTime();
    if (now >= nextAt && (await sweepRows())) nextAt = now + limits.retentionEveryMs;
    if (now >= nextBlobsAt && (await sweepBlobs())) nextBlobsAt = now + limits.blobGcEveryMs;
  };
}

async function inPieces(sweep: () => Promise<number>): Promise<{ rows: number; isDone: boolean }> {
  let rows = 0;
  for (let piece = 0; piece < piecesAPass; piece += 1) {
    const went = await sweep();
    if (went === 0) return { rows, isDone: true };
    rows += went;
  }
  return { rows, isDone: false };
}
