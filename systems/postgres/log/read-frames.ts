import type { Channel, StoredFrame } from '../../../core/frames/frame.ts';
import type { Db } from '../client/pool.ts';

export interface FrameQuery {
  /** Exclusive. */
  afterSeq?: number;
  /** Exclusive. */
  beforeSeq?: number;
  limit: number;
  order: 'asc' | 'desc';
  channel?: Channel;
  /**
   * A page ends with the frame that reaches this size, so it may be shorter than `limit` but is
   * never empty.
   */
  maxBytes?: number;
}

export async function readFrames(db: Db, runId: string, query: FrameQuery): Promise<StoredFrame[]> {
  const { rows } = await db.query<StoredFrame>(query.order === 'asc' ? ascending : descending, [
    runId,
    query.afterSeq ?? 0,
    query.beforeSeq ?? Number.MAX_SAFE_INTEGER,
    query.channel ?? null,
    query.limit,
    query.maxBytes ?? Number.MAX_SAFE_INTEGER,
  ]);
  return rows;
}

/** Sizes are added up before any data is read. */
const page = (order: 'asc' | 'desc'): string => `
  select seq, at, event, channel, data
  from (
    select *, sum(octet_length(data)) over (order by seq ${order}) - octet_length(data) as before
    from (
      select seq, at, event, channel, data from frames
      where run_id = $1 and seq > $2 and seq < $3 and ($4::text is null or channel = $4)
      order by seq ${order} limit $5
    ) found
  ) sized
  where before < $6
  order by seq ${order}`;

const ascending = page('asc');
const descending = page('desc');
