import { packingLimits } from '../../../core/frames/packing-limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { packLog, UnpackableError } from '../log/pack-log.ts';
import { before } from './before-now.ts';
import { purgeUnlocked, type Unpurged } from './purge-together.ts';

interface Packing {
  /** Since the end of a run. */
  afterMs: number;
  /** Skipped; those that cannot be packed are added. */
  unpacked: Unpurged;
  /** Asked after each transaction. */
  isOver(): boolean;
}

/** Packs the logs of the runs that ended first, until the time is over. */
export async function packLogs(pool: Pool, packing: Packing): Promise<number> {
  const { afterMs, unpacked, isOver } = packing;
  let packed = 0;
  for (const runId of await listUnpacked(pool, afterMs, unpacked)) {
    packed += await purgeUnlocked([runId], unpacked, () => pack(pool, runId, packing));
    if (isOver()) break;
  }
  return packed;
}

async function listUnpacked(db: Db, afterMs: number, unpacked: Unpurged): Promise<string[]> {
  const { rows } = await db.query<{ runId: string }>(
    `select run_id as "runId" from run_logs
     where unpacked_since < ${before('$1')} and run_id <> all($3::uuid[])
     order by unpacked_since limit $2`,
    [afterMs, packingLimits.batchRuns, [...unpacked.keys()]],
  );
  return rows.map(({ runId }) => runId);
}

async function pack(pool: Pool, runId: string, { unpacked, isOver }: Packing): Promise<number> {
  try {
    return await packLog(pool, runId, isOver);
  } catch (error) {
    if (!(error instanceof UnpackableError)) throw error;
    unpacked.set(runId, error);
    return 0;
  }
}
