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
  /**
   * Whether its agent works on this message. Waits where it is yet to be given or begun; false where it
   * has ended, or another was given in its place.
   */
  begun(messageId: string): Promise<boolean>;
  /** Resolves when the present turn's end is in the log; at once where there is none. */
  ended(): Promise<unknown>;
  note(facts: RunFacts): void;
}

export function createChatTurns(beginning: ExpectedTurn | null): ChatTurns {
  const known = new Set<string>(beginning === null ? [] : [beginning.messageId]);
  let present = beginning;
  let end: Latch<true> = createLatch();
  let accepted: Latch<true> = createLatch();
  let next: Latch<true> = createLatch();
  if (beginning?.accepted) accepted.set(true);

  return {
    present: () => present,
    knows: (messageId) => known.has(messageId),
    begin(turn) {
      known.add(turn.messageId);
      present = turn;
      end.set(true);
      end = createLatch();
      accepted = createLatch();
      next.set(true);
      next = createLatch();
    },
    async begun(messageId) {
      if (!known.has(messageId)) await next.happened;
      if (present?.messageId !== messageId) return false;
      await Promise.race([accepted.happened, end.happened]);
      return present?.messageId === messageId;
    },
    ended: () => (present === null ? Promise.resolve() : end.happened),
    note({ begunMessage, turnEnd }) {
      if (present === null) return;
      if (begunMessage === present.messageId) accepted.set(true);
      if (turnEnd?.messageId !== present.messageId) return;
      present = null;
      end.set(true);
    },
  };
}
