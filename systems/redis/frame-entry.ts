import { Buffer } from 'node:buffer';
import type { Channel, Delta, StoredFrame } from '../../core/frame.ts';
import { limits } from '../../core/limits.ts';

/** What one entry of a run's stream says. A stub stands for a frame that only Postgres has. */
export type StreamEntry =
  | { kind: 'frame'; frame: StoredFrame }
  | { kind: 'stub'; seq: number }
  | { kind: 'delta'; delta: Delta };

/** A place in a run's stream: a frame, or the n-th token delta after it. */
export interface StreamPosition {
  seq: number;
  n: number;
}

export interface WrittenEntry {
  id: string;
  fields: string[];
  bytes: number;
}

export function frameEntry(frame: StoredFrame): WrittenEntry {
  const bytes = Buffer.byteLength(frame.data);
  const id = `${frame.seq}-0`;
  if (bytes > limits.redisFrameMaxBytes) return { id, fields: ['s', '1'], bytes: entryBytes };
  const fields = [
    ...['e', frame.event],
    ...['c', frame.channel],
    ...['t', String(frame.at.getTime())],
    ...['d', frame.data],
  ];
  return { id, fields, bytes: bytes + entryBytes };
}

export function deltaEntry(delta: Delta): WrittenEntry {
  const bytes = Buffer.byteLength(delta.data) + entryBytes;
  return { id: `${delta.seq}-${delta.n}`, fields: ['d', delta.data], bytes };
}

export function readEntry(id: string, fields: string[]): StreamEntry {
  const [seq, n] = id.split('-').map(Number) as [number, number]; // Redis ids are two numbers
  const named = new Map(pairs(fields));
  const data = named.get('d') ?? '';
  if (n > 0) return { kind: 'delta', delta: { seq, n, data } };
  if (named.has('s')) return { kind: 'stub', seq };
  const event = named.get('e') ?? '';
  const channel = named.get('c') as Channel; // written by frameEntry alone
  return {
    kind: 'frame',
    frame: { seq, event, channel, data, at: new Date(Number(named.get('t'))) },
  };
}

function pairs(fields: string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) found.push([fields[i] ?? '', fields[i + 1] ?? '']);
  return found;
}

/** Roughly what an entry costs beside its data. */
const entryBytes = 64;
