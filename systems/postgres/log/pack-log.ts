import type { StoredFrame } from '../../../core/frames/frame.ts';
import { packingLimits } from '../../../core/frames/packing-limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { packFrames, unpackFrames } from './packed-frames.ts';

/** Packing would change the frames, so the log stays as it is. */
export class UnpackableError extends Error {
  override name = 'UnpackableError';
}

/**
 * Packs the log of an ended run, from its start, a bounded number of frames in each transaction.
 * Returns how many transactions did. None of a run that another transaction locks. After the
 * transaction in which the time is over, the rest is left to the next call. Safe to repeat.
 */
export async function packLog(
  pool: Pool,
  runId: string,
  isOver: () => boolean = () => false,
): Promise<number> {
  let chunks = 0;
  for (;;) {
    const outcome = await inTransaction(pool, (db) => packNext(db, runId));
    if (outcome === 'locked') return chunks;
    chunks += 1;
    if (outcome === 'packed' || isOver()) return chunks;
  }
}

/** One transaction checks the packed form, stores it and deletes the frames. */
async function packNext(db: Db, runId: string): Promise<'locked' | 'packed' | 'more'> {
  const lock = `
    select from run_logs where run_id = $1 and unpacked_since is not null
    for no key update skip locked`;
  if ((await db.query(lock, [runId])).rowCount === 0) return 'locked';
  const { rows } = await db.query<StoredFrame & { remaining: number }>(nextFrames, [
    runId,
    packingLimits.chunkFrames,
    packingLimits.chunkBytes,
  ]);
  const frames = rows.map(({ remaining: _remaining, ...frame }) => frame);
  if (frames.length > 0) await replaceFrames(db, runId, frames);
  if (frames.length < (rows[0]?.remaining ?? 0)) return 'more';
  await db.query('update run_logs set unpacked_since = null where run_id = $1', [runId]);
  return 'packed';
}

/** `remaining` exceeds the number of these frames if others follow. */
const nextFrames = `
  select seq, at, event, channel, data, remaining from (
    select *, count(*) over () as remaining, row_number() over (order by seq) as n,
           sum(octet_length(data)) over (order by seq) - octet_length(data) as before
    from (
      select seq, at, event, channel, data from frames
      where run_id = $1 order by seq limit $2::integer + 1
    ) found
  ) sized
  where n <= $2 and before < $3
  order by seq`;

async function replaceFrames(db: Db, runId: string, frames: StoredFrame[]): Promise<void> {
  const packed = await packFrames(frames);
  if (!isSame(frames, await unpackFrames(packed)))
    throw new UnpackableError(`the log of ${runId} differs after packing`);
  const { rows } = await db.query<{ bytes: number; deleted: number }>(
    `with deleted as (
       delete from frames where run_id = $1 and seq between $2 and $3
       returning octet_length(data) as bytes
     )
     select coalesce(sum(bytes), 0)::bigint as bytes, count(*) as deleted from deleted`,
    [runId, frames[0]?.seq, frames.at(-1)?.seq],
  );
  const { bytes = 0, deleted = 0 } = rows[0] ?? {};
  if (deleted !== frames.length)
    throw new UnpackableError(`frames of ${runId} were removed while they were packed`);
  await db.query(
    `with counted as (
       insert into stored_bytes_changes (project_id, kind, bytes)
       select r.project_id, 'logs', octet_length($5::bytea) - $6::bigint from runs r where r.id = $1
     )
     insert into packed_frames (run_id, first_seq, last_seq, channels, data)
     values ($1, $2, $3, $4, $5::bytea)`,
    [
      runId,
      frames[0]?.seq,
      frames.at(-1)?.seq,
      [...new Set(frames.map(({ channel }) => channel))],
      packed,
      bytes,
    ],
  );
}

function isSame(frames: StoredFrame[], unpacked: StoredFrame[]): boolean {
  return (
    frames.length === unpacked.length &&
    frames.every((frame, n) => {
      const other = unpacked[n];
      return (
        other?.seq === frame.seq &&
        other.at.getTime() === frame.at.getTime() &&
        other.event === frame.event &&
        other.channel === frame.channel &&
        other.data === frame.data
      );
    })
  );
}
