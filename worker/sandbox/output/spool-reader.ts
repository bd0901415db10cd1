import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentState } from '../../../core/agent/agent-state.ts';
import type { ChatReader } from '../../../core/frames/chat-frames.ts';
import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';
import { createLineSplitter, type SpoolLine } from './line-splitter.ts';
import { type BatchBounds, createBatch, type SpoolBatch } from './spool-batch.ts';
import type { SpoolFile } from './spool-file.ts';

export interface ReaderBounds extends BatchBounds {
  chunkBytes: number;
  lineBytes: number;
}

interface SpoolReader {
  /** The lines that have arrived. Null at the current end of the file. */
  nextBatch(): Promise<SpoolBatch | null>;
  /** At the end of the output. Text after the last newline is a line, too. */
  lastBatch(): SpoolBatch | null;
  /** How far the file has been read. */
  offset(): number;
}

interface ReaderStart {
  offset: number;
  agentState: AgentState;
  bounds: ReaderBounds;
  /** For a session's agent. */
  chat?: Pick<ChatReader, 'read'> | null;
}

/**
 * Reads from an offset at which a line starts. Each read takes one turn of the event loop, so that a run
 * with a flood of output does not starve the others.
 */
export function createSpoolReader(
  spool: SpoolFile,
  { offset, agentState, bounds, chat = null }: ReaderStart,
): SpoolReader {
  const buffer = Buffer.allocUnsafe(bounds.chunkBytes);
  const splitter = createLineSplitter(bounds.lineBytes);
  let waiting: SpoolLine[] = [];
  let readTo = offset;
  let position = { offset, deltaCount: 0, agentState };

  function take(): SpoolBatch | null {
    const builder = createBatch(position, bounds, chat);
    let taken = 0;
    for (const line of waiting) {
      if (builder.isFull()) break;
      builder.add(line);
      taken += 1;
    }
    if (builder.isEmpty()) return null;
    const bytes = waiting.slice(0, taken).reduce((sum, line) => sum + line.bytes, 0);
    waiting = waiting.slice(taken);
    const batch = builder.build();
    position = positionAfter(batch, position.offset + bytes);
    return batch;
  }

  /** False if the file has no more data for now. A short read also ends the loop. */
  async function fill(): Promise<boolean> {
    let bytes = 0;
    let isFull = true;
    while (isFull && waiting.length < bounds.lines && bytes < bounds.bytes) {
      const read = await spool.read(buffer, readTo);
      if (read === 0) return false;
      isFull = read === buffer.length;
      readTo += read;
      bytes += read;
      waiting.push(...splitter.push(buffer.subarray(0, read)));
    }
    return true;
  }

  return {
    async nextBatch() {
      if (waiting.length >= bounds.lines) await nextTurn();
      for (let more = true; more; ) {
        more = await fill();
        const batch = take();
        if (batch !== null) return batch;
      }
      return null;
    },
    lastBatch() {
      waiting.push(...splitter.end());
      return take();
    },
    offset: () => readTo,
  };
}

export class SpoolUnreadable extends Error {
  override name = 'SpoolUnreadable';
}

/** Retries a failed read for a limited time, because a disk may fail temporarily. */
export async function readWithRetry<T>(
  work: () => Promise<T>,
  { retry, withinMs }: { retry: RetryPolicy; withinMs: number },
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    retry.onFailure(error, 1);
  }
  const tooLong = AbortSignal.timeout(withinMs);
  const signal = AbortSignal.any([retry.signal, tooLong]);
  try {
    return await retryUntilAborted(work, { ...retry, signal });
  } catch (error) {
    if (tooLong.aborted) throw new SpoolUnreadable('the spool cannot be read', { cause: error });
    throw error;
  }
}

const positionAfter = ({ deltaCount, agentState }: SpoolBatch, offset: number) => ({
  offset,
  deltaCount,
  agentState,
});
