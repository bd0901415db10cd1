import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { PendingTurn } from '../../../core/sessions/chat.ts';
import { createDeferred, type Deferred } from '../../../lib/async/deferred.ts';

/** The messages that a session's agent is given, one after the other. */
export interface SessionTurnTracker {
  /** The message that the agent has, from an earlier life of this process too. */
  current(): PendingTurn | null;
  /** Whether it is, or was, the current one. */
  hasSeen(messageId: string): boolean;
  /** The one before it has ended, whether or not its end was noted here by now. */
  start(turn: PendingTurn): void;
  /**
   * Whether its agent works on this message. Waits where it is yet to be given or waitUntilStarted; false where it
   * has ended, or another was given in its place.
   */
  waitUntilStarted(messageId: string): Promise<boolean>;
  /** Resolves when the current turn's end is in the log; at once where there is none. */
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
