import type { StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import type { Reader } from './reader.ts';
import type { Piece } from './ring-buffer.ts';
import { sseEvent, sseFrame } from './sse.ts';

/** How the run stands; once, and again whenever its status differs from what was said last. */
export async function sayStatus(reader: Reader): Promise<void> {
  const { status, agentStatus } = reader.feed.state();
  if (status === reader.said.status) return;
  reader.said.status = status;
  const data = JSON.stringify({ status, agentStatus });
  await reader.outlet.write(sseEvent({ event: 'status', data }));
}

/** The working directory, where there is one; again whenever it has changed. */
export async function sayTree(reader: Reader): Promise<void> {
  const json = reader.feed.tree.json();
  if (json === null || !isTreeNew(reader)) return;
  reader.said.tree = json;
  await reader.outlet.write(sseEvent({ event: 'filetree', data: json }));
}

export function isTreeNew({ feed, said }: Reader): boolean {
  const json = feed.tree.json();
  return json !== null && json !== said.tree;
}

/** The reader was told otherwise, or is to be told that it is over. */
export function isStateNew({ feed, said }: Reader): boolean {
  const { status, endedAt } = feed.state();
  return status !== said.status || endedAt !== null;
}

/** The end of the rendered log so far. Without an id: it cannot be resumed in its middle. */
export async function sayRendered(reader: Reader): Promise<void> {
  const tail = await reader.frames.renderedTail(reader.run.runId, {
    maxBytes: limits.firstOutputMaxBytes,
    uptoSeq: reader.snapshotSeq,
  });
  if (tail === '') return;
  const data = JSON.stringify({ data: tail });
  await reader.outlet.write(sseEvent({ event: 'output', data }));
}

/** Frames of the log. Rendered ones that were in the first `output` are not said twice. */
export async function sayPage(reader: Reader, page: StoredFrame[]): Promise<void> {
  const last = page.at(-1);
  if (last === undefined) return;
  const renderedUpTo = reader.resumeAfter === null ? reader.snapshotSeq : 0;
  const unsaid = page.filter(({ event, seq }) => event !== 'output' || seq > renderedUpTo);
  await reader.outlet.write(Buffer.concat(unsaid.map(sseFrame)));
  reader.position = { seq: last.seq, n: 0 };
}

export function sayPiece(reader: Reader, piece: Piece): boolean | Promise<boolean> {
  reader.position = piece.to;
  return reader.outlet.write(piece.bytes);
}

/** Frames that not even the log has any more: the reader is told where it goes on. */
export async function sayTruncated(reader: Reader, firstAvailableSeq: number): Promise<void> {
  if (firstAvailableSeq <= reader.position.seq + 1) return;
  const data = JSON.stringify({ instanceId: reader.run.runId, firstAvailableSeq });
  await reader.outlet.write(sseEvent({ event: 'replay_truncated', data }));
  reader.position = { seq: firstAvailableSeq - 1, n: 0 };
}
