import type { RunFacts } from '../../../core/agent-line.ts';
import type { ExpectedTurn } from '../../../core/chat.ts';
import { createLatch, type Latch } from '../latch.ts';

/** The messages that a session's agent is given, one after the other. */
export interface ChatTurns {
  /** The message that the agent has, from an earlier life of this process too. */
  present(): ExpectedTurn | null;
  /** Whether it is, or was, the present one. */
  knows(messageId: string): boolean;
  /** The one before it has ended, whether or not its end was noted here by now. */
  begin(turn: ExpectedTurn): void;
  /** Resolves when the present turn's end is in the log; at once where there is none. */
  ended(): Promise<unknown>;
  note(facts: RunFacts): void;
}

export function createChatTurns(beginning: ExpectedTurn | null): ChatTurns {
  const known = new Set<string>(beginning === null ? [] : [beginning.messageId]);
  let present = beginning;
  let end: Latch<true> = createLatch();

  return {
    present: () => present,
    knows: (messageId) => known.has(messageId),
    begin(turn) {
      known.add(turn.messageId);
      present = turn;
      end.set(true);
      end = createLatch();
    },
    ended: () => (present === null ? Promise.resolve() : end.happened),
    note({ turnEnd }) {
      if (present === null || turnEnd?.messageId !== present.messageId) return;
      present = null;
      end.set(true);
    },
  };
}
