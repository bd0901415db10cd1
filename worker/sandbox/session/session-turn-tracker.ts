import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { PendingTurn } from '../../../core/sessions/chat.ts';
import { createDeferred, type Deferred } from '../../../lib/async/deferred.ts';

/** Tracks the messages that a session's agent receives, one after the other. */
export interface SessionTurnTracker {
  /** The agent's current message, which a previous process may have sent. */
  current(): PendingTurn | null;
  /** Whether it is or was the current message. */
  hasSeen(messageId: string): boolean;
  /** The previous turn has ended, even if its end was not noted here. */
  start(turn: PendingTurn): void;
  /**
   * Whether its agent works on this message. Waits where it is yet to be given or waitUntilStarted; false where it
   * has ended, or another was given in its place.
   */
  waitUntilStarted(messageId: string): Promise<boolean>;
  /** Resolves when the current turn's end is in the log, or at once without a turn. */
  ended(): Promise<unknown>;
  note(facts: RunFacts): void;
}

export function createSessionTurnTracker(beginning: PendingTurn | null): SessionTurnTracker {
  const known = new Set<string>(beginning === null ? [] : [beginning.messageId]);
  let current = beginning;
  let end: Deferred<true> = createDeferred();
  let accepted: Deferred<true> = createDeferred();
  let next: Deferred<true> = createDeferred();
  if (beginning?.isAccepted) accepted.resolve(true);

  return {
    current: () => current,
    hasSeen: (messageId) => known.has(messageId),
    start(turn) {
      known.add(turn.messageId);
      current = turn;
      end.resolve(true);
      end = createDeferred();
      accepted = createDeferred();
      next.resolve(true);
      next = createDeferred();
    },
    async waitUntilStarted(messageId) {
      if (!known.has(messageId)) await next.promise;
      if (current?.messageId !== messageId) return false;
      await Promise.race([accepted.promise, end.promise]);
      return current?.messageId === messageId;
    },
    ended: () => (current === null ? Promise.resolve() : end.promise),
    note({ startedMessage, turnEnd }) {
      if (current === null) return;
      if (startedMessage === current.messageId) accepted.resolve(true);
      if (turnEnd?.messageId !== current.messageId) return;
      current = null;
      end.resolve(true);
    },
  };
}
