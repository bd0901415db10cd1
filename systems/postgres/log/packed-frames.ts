// The form in which frames of ended runs are stored: several frames as JSON, with one list for each
// field, compressed together.

import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Channel, StoredFrame } from '../../../core/frames/frame.ts';

interface Columns {
  seq: number[];
  /** In milliseconds, which is the precision of the database's clock. */
  at: number[];
  event: string[];
  channel: Channel[];
  data: string[];
}

/** Higher levels take ten times as long and save a few percent. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 9 } };
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

export function packFrames(frames: readonly StoredFrame[]): Promise<Buffer> {
  const columns: Columns = {
    seq: frames.map(({ seq }) => seq),
    at: frames.map(({ at }) => at.getTime()),
    event: frames.map(({ event }) => event),
    channel: frames.map(({ channel }) => channel),
    data: frames.map(({ data }) => data),
  };
  return compress(JSON.stringify(columns), options);
}

export async function unpackFrames(packed: Buffer): Promise<StoredFrame[]> {
  // Only packFrames writes it.
  const columns = JSON.parse((await decompress(packed)).toString()) as Columns;
  return columns.seq.map((seq, n) => ({
    seq,
    at: new Date(columns.at[n] ?? NaN),
    event: columns.event[n] ?? '',
    channel: columns.channel[n] ?? 'other',
    data: columns.data[n] ?? '',
  }));
}
