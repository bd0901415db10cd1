import type { Channel, StoredFrame } from '../../../core/frames/frame.ts';
import type { Db } from '../client/pool.ts';
import { unpackFrames } from './packed-frames.ts';

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

/**
 * The packed frames of a run come before all others. Each statement reads both forms, so a log can
 * be packed between two statements.
 */
export async function readFrames(db: Db, runId: string, query: FrameQuery): Promise<StoredFrame[]> {
  const { limit, maxBytes = Number.MAX_SAFE_INTEGER } = query;
  const page: StoredFrame[] = [];
  let bytes = 0;
  let rest: FrameQuery | null = query;
  while (rest !== null) {
    const part = await readPart(db, runId, rest);
    for (const frame of part.frames) {
      if (page.length === limit || bytes >= maxBytes) return page;
      page.push(frame);
      bytes += Buffer.byteLength(frame.data);
    }
    const isFull = page.length === limit || bytes >= maxBytes;
    const left = { limit: limit - page.length, maxBytes: maxBytes - bytes };
    rest = part.next === null || isFull ? null : { ...query, ...part.next, ...left };
  }
  return page;
}

type Bounds = Pick<FrameQuery, 'afterSeq' | 'beforeSeq'>;

interface Part {
  frames: StoredFrame[];
  /** Null if no further frame can follow. */
  next: Bounds | null;
}

interface Row extends StoredFrame {
  /** Null for a frame that is not packed. */
  packed: Buffer | null;
  last_seq: number;
}

/** The frames that are not packed, and the frames of one packed row. */
async function readPart(db: Db, runId: string, query: FrameQuery): Promise<Part> {
  const { afterSeq = 0, beforeSeq = Number.MAX_SAFE_INTEGER, channel, order } = query;
  const { rows } = await db.query<Row>(order === 'asc' ? ascending : descending, [
    runId,
    afterSeq,
    beforeSeq,
    channel ?? null,
    query.limit,
    query.maxBytes ?? Number.MAX_SAFE_INTEGER,
  ]);
  const unpacked = rows.flatMap(({ packed, last_seq: _last, ...frame }) =>
    packed === null ? [frame] : [],
  );
  const chunk = rows.find(({ packed }) => packed !== null);
  if (!chunk?.packed) return { frames: unpacked, next: null };
  const all = await unpackFrames(chunk.packed);
  const wanted = all.filter(
    (frame) =>
      frame.seq > afterSeq &&
      frame.seq < beforeSeq &&
      (channel === undefined || frame.channel === channel),
  );
  return order === 'asc'
    ? { frames: wanted, next: { afterSeq: chunk.last_seq, beforeSeq } }
    : { frames: [...unpacked, ...wanted.reverse()], next: { afterSeq, beforeSeq: chunk.seq } };
}

/** Sizes are added up before any data is read. */
const part = (order: 'asc' | 'desc'): string => `
  (
    select seq, at, event, channel, data, null::bytea as packed, seq as last_seq
    from (
      select *, sum(octet_length(data)) over (order by seq ${order}) - octet_length(data) as before
      from (
        select seq, at, event, channel, data from frames
        where run_id = $1 and seq > $2 and seq < $3 and ($4::text is null or channel = $4)
        order by seq ${order} limit $5
      ) found
    ) sized
    where before < $6
  )
  union all
  (
    select first_seq, null, null, null, null, data, last_seq from packed_frames
    where run_id = $1 and last_seq > $2 and first_seq < $3
      and ($4::text is null or $4 = any (channels))
    order by first_seq ${order} limit 1
  )
  order by seq ${order}`;

const ascending = part('asc');
const descending = part('desc');
