import { Buffer } from 'node:buffer';
import type { Channel, Delta, StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';

/** An entry of a run's stream. A stub stands for a frame that is only in Postgres. */
export type StreamEntry =
  | { kind: 'frame'; frame: StoredFrame }
  | { kind: 'stub'; seq: number }
  | { kind: 'delta'; delta: Delta };

/** A position in a run's stream: a frame, or the n-th token delta after it. */
export interface StreamPosition {
  seq: number;
  n: number;
}

/** Two short fields, because their size counts for every frame. */
export interface WrittenEntry {
  id: string;
  head: string;
  data: string;
  bytes: number;
}

const stubHead = 'stub';
const deltaHead = 'delta';

export function frameEntry({ seq, at, channel, event, data }: StoredFrame): WrittenEntry {
  const id = `${seq}-0`;
  const bytes = Buffer.byteLength(data);
  if (bytes > limits.redis.frameMaxBytes)
    return { id, head: stubHead, data: '', bytes: entryBytes };
  return { id, head: `${at.getTime()} ${channel} ${event}`, data, bytes: bytes + entryBytes };
}

export function deltaEntry({ seq, n, data }: Delta): WrittenEntry {
  return { id: `${seq}-${n}`, head: deltaHead, data, bytes: Buffer.byteLength(data) + entryBytes };
}

/** The encoding of entries inside a notification. */
export function writeEntries(entries: WrittenEntry[]): string {
  return JSON.stringify(entries.map(({ id, head, data }) => [id, head, data]));
}

export function readEntries(text: string): StreamEntry[] {
  const written = JSON.parse(text) as [string, string, string][]; // writeEntries'
  return written.map(([id, head, data]) => readEntry(id, ['h', head, 'd', data]));
}

export function readEntry(id: string, fields: string[]): StreamEntry {
  const [seq, n] = id.split('-').map(Number) as [number, number]; // Redis ids are two numbers
  const [, head = '', , data = ''] = fields;
  if (n > 0) return { kind: 'delta', delta: { seq, n, data } };
  if (head === stubHead) return { kind: 'stub', seq };
  const [at, channel, event] = head.split(' ') as [string, Channel, string]; // frameEntry's
  return { kind: 'frame', frame: { seq, event, channel, data, at: new Date(Number(at)) } };
}

/** Approximate overhead of an entry besides its data. */
const entryBytes = 64;
