import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { PendingTurn } from '../../../core/sessions/chat.ts';
import { createDeferred, type Deferred } from '../../../lib/async/deferred.ts';

/** The messages that a session's agent is given, one after the other. */
export interface SessionTurnTracker {
  /** The message that the agent has, from an earlier life of this process too. */
  present(): PendingTurn | null;
  /** Whether it is, or was, the present one. */
  hasSeen(messageId: string): boolean;
  /** The one before it has ended, whether or not its end was noted here by now. */
  start(turn: PendingTurn): void;
  /**
   * Whether its agent works on this message. Waits where it is yet to be given or waitUntilStarted; false where it
   * has ended, or another was given in its place.
   */
  waitUntilStarted(messageId: string): Promise<boolean>;
  /** Resolves when the present turn's end is in the log; at once where there is none. */
  ended(): Promise<unknown>;
  note(facts: RunFacts): void;
}

export function createSessionTurnTracker(beginning: PendingTurn | null): SessionTurnTracker {
  const known = new Set<string>(beginning === null ? [] : [beginning.messageId]);
  let present = beginning;
  let end: Deferred<true> = createDeferred();
  let accepted: Deferred<true> = createDeferred();
  let next: Deferred<true> = createDeferred();
  if (beginning?.isAccepted) accepted.resolve(true);

  return {
    present: () => present,
    hasSeen: (messageId) => known.has(messageId),
    start(turn) {
      known.add(turn.messageId);
      present = turn;
      end.resolve(true);
      end = createDeferred();
      accepted = createDeferred();
      next.resolve(true);
      next = createDeferred();
    },
    async waitUntilStarted(messageId) {
      if (!known.has(messageId)) await next.promise;
      if (present?.messageId !== messageId) return false;
      await Promise.race([accepted.promise, end.promise]);
      return present?.messageId === messageId;
    },
    ended: () => (present === null ? Promise.resolve() : end.promise),
    note({ startedMessage, turnEnd }) {
      if (present === null) return;
      if (startedMessage === present.messageId) accepted.resolve(true);
      if (turnEnd?.messageId !== present.messageId) return;
      present = null;
      end.resolve(true);
    },
  };
}
