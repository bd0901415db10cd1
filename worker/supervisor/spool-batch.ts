import { type RunFacts, readAgentLine } from '../../core/agent-line.ts';
import { cutLine } from '../../core/cut-line.ts';
import type { Delta, Frame } from '../../core/frame.ts';
import type { SpoolLine } from './line-splitter.ts';

/** Lines of the spool on their way into the log, as one transaction. */
export interface SpoolBatch {
  frames: Frame[];
  facts: RunFacts;
  /**
   * Where the last line ends that the log keeps something of; null where no line is kept. Token
   * deltas after it stay ahead of the cursor, so that a restart counts them from the same frame and
   * Redis knows them again by their ids.
   */
  keptTo: number | null;
  /** The deltas with their ids, once it is known under which number the first frame is stored. */
  deltas(log: { lastSeqBefore: number; firstSeq: number }): Delta[];
  /** Of the deltas since the last frame. */
  deltaCount: number;
}

export interface BatchBounds {
  lines: number;
  bytes: number;
}

export interface BatchBuilder {
  add(line: SpoolLine): void;
  /** A batch holds one turn's end at most, and that as its last line. */
  isFull(): boolean;
  isEmpty(): boolean;
  build(): SpoolBatch;
}

export function createBatch(
  start: { offset: number; deltaCount: number },
  bounds: BatchBounds,
): BatchBuilder {
  const frames: Frame[] = [];
  const deltas: { framesBefore: number; n: number; data: string }[] = [];
  const facts: RunFacts = {};
  let { offset, deltaCount } = start;
  let keptTo: number | null = null;
  let lines = 0;

  function add(line: SpoolLine): void {
    const read = readAgentLine(textOf(line));
    lines += 1;
    offset += line.bytes;
    for (const data of read.deltas) {
      deltaCount += 1;
      deltas.push({ framesBefore: frames.length, n: deltaCount, data });
    }
    if (read.frames.length > 0) deltaCount = 0;
    frames.push(...read.frames);
    Object.assign(facts, read.facts);
    if (read.frames.length > 0 || Object.keys(read.facts).length > 0) keptTo = offset;
  }

  return {
    add,
    isFull: () =>
      lines >= bounds.lines || offset - start.offset >= bounds.bytes || facts.turn !== undefined,
    isEmpty: () => lines === 0,
    build: () => ({
      frames,
      facts,
      keptTo,
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

function textOf({ text, bytes, cutBytes }: SpoolLine): string {
  return cutBytes === 0 ? text : cutLine(text, bytes);
}
