import type { Db } from '../client/pool.ts';
import { readFrames } from './read-frames.ts';

export interface TailQuery {
  maxBytes: number;
  /** Inclusive. */
  uptoSeq: number;
}

const pageFrames = 500;

/** The end of the rendered log: at most `maxBytes`, from the start of a line. */
export async function renderedTail(db: Db, runId: string, query: TailQuery): Promise<string> {
  const newestFirst: Buffer[] = [];
  let bytes = 0;
  let beforeSeq = query.uptoSeq + 1;
  // One byte more than requested shows whether the cut falls between two lines.
  while (bytes <= query.maxBytes) {
    const frames = await readFrames(db, runId, {
      beforeSeq,
      channel: 'output',
      order: 'desc',
      limit: pageFrames,
      maxBytes: query.maxBytes + 1 - bytes,
    });
    const oldest = frames.at(-1);
    if (oldest === undefined) break;
    for (const frame of frames) newestFirst.push(textOf(frame.data));
    bytes = newestFirst.reduce((sum, text) => sum + text.length, 0);
    beforeSeq = oldest.seq;
  }
  return lastLines(Buffer.concat(newestFirst.reverse()), query.maxBytes);
}

/** Frames of the channel `output` are `{data: text}`; only this service writes them. */
function textOf(data: string): Buffer {
  const { data: text } = JSON.parse(data) as { data: string };
  return Buffer.from(text);
}

const newline = 0x0a;

function lastLines(text: Buffer, maxBytes: number): string {
  if (text.length <= maxBytes) return text.toString();
  const cut = text.length - maxBytes;
  const lineEnd = text.indexOf(newline, cut - 1);
  // A single line is longer than the limit: return its end, from a whole character.
  const start =
    lineEnd === -1 || lineEnd === text.length - 1 ? wholeCharacter(text, cut) : lineEnd + 1;
  return text.toString('utf8', start);
}

function wholeCharacter(text: Buffer, from: number): number {
  let start = from;
  while (start < text.length && ((text[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}
