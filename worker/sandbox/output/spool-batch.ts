import { type RunFacts, readAgentLine } from '../../../core/agent/agent-line.ts';
import { type AgentState, reduce } from '../../../core/agent/agent-state.ts';
import type { InteractionEvent } from '../../../core/agent/interaction.ts';
import { truncatedLine } from '../../../core/agent/truncated-line.ts';
import type { ChatLine, ChatReader } from '../../../core/frames/chat-frames.ts';
import type { Delta, Frame } from '../../../core/frames/frame.ts';
import type { SpoolLine } from './line-splitter.ts';

/** Lines of the spool that are committed to the log in one transaction. */
export interface SpoolBatch {
  frames: Frame[];
  facts: RunFacts;
  interactionEvents: InteractionEvent[];
  /** The agent's state after the last line. */
  agentState: AgentState;
  /**
   * The end of the last line that adds to the log. Null if no line does. Token deltas after it remain
   * ahead of the cursor, so that a restart numbers them from the same frame, and Redis recognises them by
   * their IDs.
   */
  committedTo: number | null;
  /** The deltas with their IDs, given the sequence number of the first frame. */
  deltas(log: { lastSeqBefore: number; firstSeq: number }): Delta[];
  /** The number of deltas since the last frame. */
  deltaCount: number;
}

export interface BatchBounds {
  lines: number;
  bytes: number;
}

interface BatchBuilder {
  add(line: SpoolLine): void;
  /** A batch contains at most one end of a turn, as its last line. */
  isFull(): boolean;
  isEmpty(): boolean;
  build(): SpoolBatch;
}

export function createBatch(
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
