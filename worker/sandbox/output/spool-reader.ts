// Reads the spool in batches. A line becomes frames and facts, and a batch of lines is committed in
// one transaction. The same bytes from the same state always give the same frames.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RunFacts, readAgentLine } from '../../../core/agent/agent-line.ts';
import { type AgentState, reduce } from '../../../core/agent/agent-state.ts';
import type { InteractionEvent } from '../../../core/agent/interaction.ts';
import { truncatedLine } from '../../../core/agent/truncated-line.ts';
import type { ChatLine, ChatReader } from '../../../core/frames/chat-frames.ts';
import type { Delta, Frame } from '../../../core/frames/frame.ts';
import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';
import { createLineSplitter, type SpoolLine } from './line-splitter.ts';
import type { SpoolFile } from './spool-file.ts';

export interface ReaderBounds extends BatchBounds {
  chunkBytes: number;
  lineBytes: number;
}

interface BatchBounds {
  lines: number;
  bytes: number;
}

/** Lines of the spool that are committed to the log in one transaction. */
export interface SpoolBatch {
  frames: Frame[];
  facts: RunFacts;
  interactionEvents: InteractionEvent[];
  /** The agent's state after the last line. */
  agentState: AgentState;
  /**
   * The end of the last line that adds to the log. Null if no line does. Token deltas after it
   * remain ahead of the cursor, so that a restart numbers them from the same frame, and Redis
   * recognizes them by their IDs.
   */
  committedTo: number | null;
  /** The end of the last line. */
  endOffset: number;
  /** The deltas with their IDs, given the sequence number of the first frame. */
  deltas(log: { lastSeqBefore: number; firstSeq: number }): Delta[];
  /** The number of deltas since the last frame. */
  deltaCount: number;
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
 * Reads from an offset at which a line starts. Each read takes one turn of the event loop, so that
 * a run with a flood of output does not starve the others.
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
    waiting = waiting.slice(taken);
    const batch = builder.build();
    const { endOffset, deltaCount } = batch;
    position = { offset: endOffset, deltaCount, agentState: batch.agentState };
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

interface BatchBuilder {
  add(line: SpoolLine): void;
  /** A batch contains at most one end of a turn, as its last line. */
  isFull(): boolean;
  isEmpty(): boolean;
  build(): SpoolBatch;
}

function createBatch(
  start: { offset: number; deltaCount: number; agentState: AgentState },
  bounds: BatchBounds,
  chat: Pick<ChatReader, 'read'> | null = null,
): BatchBuilder {
  const frames: Frame[] = [];
  const deltas: { framesBefore: number; n: number; data: string }[] = [];
  const facts: RunFacts = {};
  const interactionEvents: InteractionEvent[] = [];
  let { offset, deltaCount, agentState } = start;
  let committedTo: number | null = null;
  let lines = 0;

  function add(line: SpoolLine): void {
    const text = textOf(line);
    const read = readAgentLine(text);
    const chatLine = chat?.read(text, read.facts) ?? noChat;
    lines += 1;
    offset += line.bytes;
    for (const data of read.deltas) {
      deltaCount += 1;
      deltas.push({ framesBefore: frames.length, n: deltaCount, data });
    }
    const next = reduce(agentState, read.facts);
    const added = [...chatLine.text, ...read.frames, ...next.frames, ...chatLine.end];
    if (added.length > 0) deltaCount = 0;
    frames.push(...added);
    interactionEvents.push(...next.interactionEvents);
    agentState = next.state;
    const { agentStatus } = next;
    Object.assign(facts, read.facts, chatLine.facts, agentStatus && { agentStatus });
    if (added.length > 0 || Object.keys(read.facts).length > 0) committedTo = offset;
  }

  const endsTurn = (): boolean => facts.turn !== undefined || facts.turnEnd !== undefined;
  return {
    add,
    isFull: () => lines >= bounds.lines || offset - start.offset >= bounds.bytes || endsTurn(),
    isEmpty: () => lines === 0,
    build: () => ({
      frames,
      facts,
      interactionEvents,
      agentState,
      committedTo,
      endOffset: offset,
      deltaCount,
      deltas: ({ lastSeqBefore, firstSeq }) =>
        deltas.map(({ framesBefore, n, data }) => ({
          seq: framesBefore === 0 ? lastSeqBefore : firstSeq + framesBefore - 1,
          n,
          data,
        })),
    }),
  };
}

const noChat: ChatLine = { text: [], end: [], facts: {} };

function textOf({ text, bytes, cutBytes }: SpoolLine): string {
  return cutBytes === 0 ? text : truncatedLine(text, bytes);
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
