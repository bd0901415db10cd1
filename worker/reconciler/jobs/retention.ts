import { limits } from '../../../core/limits.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import type { Unpurged } from '../../../systems/postgres/maintenance/purge-together.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { stepDeadline } from '../step-deadline.ts';

/** Batches of each kind of row that one call deletes. */
const batchesMax = 5;

interface Retention {
  /**
   * Deletes some overdue rows of each kind. True if none are left. Rejects if a kind failed, once
   * none are left of the others.
   */
  purgeRows(): Promise<boolean>;
  /** After this time `purgeRows` is due again, once none are left. Locked runs are due soon. */
  rowsDueInMs(): number;
  /** Deletes the unreferenced ones of the next blobs. True if all blobs were checked. */
  purgeBlobs(): Promise<boolean>;
  /** Adds changes of what projects store to the sums. True if none are left. */
  foldStoredBytes(): Promise<boolean>;
}

/** Deletes data whose retention has expired, a bounded amount per call. */
export function createRetention(
  deps: Pick<ReconcilerDeps, 'retention' | 'retentionTimes' | 'logger'>,
): Retention {
  const { retention, logger } = deps;
  const { unreferencedTtlMs } = limits.blob;
  const kinds = kindsOfRows(deps);
  let blobsAfter = '';
  const unpurgedBlobs: Unpurged = new Map();
  let wereLocked = false;

  function logPurged(counts: Record<string, number>): void {
    const purged = Object.entries(counts).filter(([, rows]) => rows > 0);
    if (purged.length > 0) logger.info(Object.fromEntries(purged), 'retention_applied');
  }

  /** The next call begins with all rows again. */
  function logUnpurged(kind: string, unpurged: Unpurged): void {
    for (const [id, err] of unpurged) {
      if (err === 'locked') wereLocked = true;
      else logger.warn({ err, kind, id }, 'retention_failed');
    }
    unpurged.clear();
  }

  return {
    async purgeRows() {
      const counts: Record<string, number> = {};
      for (const kind of kinds) counts[kind.name] = await purgeKind(kind);
      logPurged(counts);
      if (kinds.some(({ isDone }) => !isDone)) return false;
      wereLocked = false;
      const failed = kinds.flatMap(({ error }) => (error === null ? [] : [error]));
      for (const kind of kinds) {
        logUnpurged(kind.name, kind.unpurged);
        Object.assign(kind, { isDone: false, error: null });
      }
      if (failed.length > 0) throw new AggregateError(failed, 'some rows were not deleted');
      return true;
    },

    rowsDueInMs: () => (wereLocked ? limits.reconciler.jobPollMs : limits.retention.everyMs),

    async purgeBlobs() {
      const batch = await retention.removeBlobs(unreferencedTtlMs, blobsAfter, unpurgedBlobs);
      blobsAfter = batch?.last ?? '';
      logPurged({ blobs: batch?.removed ?? 0 });
      if (batch === null) logUnpurged('blobs', unpurgedBlobs);
      return batch === null;
    },

    foldStoredBytes: async () => (await retention.storedBytes()) < limits.retention.foldRows,
  };
}

interface Kind {
  name: string;
  purgeBatch(unpurged: Unpurged): Promise<number>;
  /** Runs that are locked or cannot be purged. They are skipped until no others are left. */
  unpurged: Unpurged;
  isDone: boolean;
  error: unknown;
}

function kindsOfRows({
  retention,
  retentionTimes,
}: Pick<ReconcilerDeps, 'retention' | 'retentionTimes'>): Kind[] {
  const { runMs, sessionFilesMs, webhookAttemptsMs } = retentionTimes;
  const { ledgerRetentionMs } = modelLimits;
  const batches: Record<string, Kind['purgeBatch']> = {
    keys: () => retention.expiredKeys(),
    logs: (unpurged) => retention.logs(runMs, unpurged),
    runFiles: (unpurged) => retention.runFiles(runMs, unpurged),
    sessionFiles: (unpurged) => retention.sessionFiles(sessionFilesMs, unpurged),
    messageFiles: () => retention.messageFiles(),
    flowFiles: () => retention.flowFiles(),
    webhookAttempts: () => retention.webhookAttempts(webhookAttemptsMs),
    webhookEvents: () => retention.webhookEvents(webhookAttemptsMs),
    modelCalls: () => retention.modelCalls(ledgerRetentionMs),
    spending: () => retention.spending(ledgerRetentionMs),
    deletedRuns: (unpurged) => retention.tombstone(limits.retention.tombstoneTtlMs, unpurged),
  };
  return Object.entries(batches).map(([name, purgeBatch]) => ({
    ...{ name, purgeBatch, unpurged: new Map() },
    ...{ isDone: false, error: null },
  }));
}

/** Returns how many rows were deleted. A kind that fails does not stop the others. */
async function purgeKind(kind: Kind): Promise<number> {
  const deadline = stepDeadline();
  let rows = 0;
  kind.isDone = kind.error !== null;
  for (let batch = 0; batch < batchesMax && !kind.isDone; batch += 1) {
    if (batch > 0 && deadline.isOver()) break;
    const before = kind.unpurged.size;
    try {
      const deleted = await kind.purgeBatch(kind.unpurged);
      rows += deleted;
      kind.isDone = deleted === 0 && kind.unpurged.size === before;
    } catch (error) {
      Object.assign(kind, { isDone: true, error });
    }
  }
  return rows;
}
