import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { PendingTurn } from '../../../core/sessions/chat.ts';
import { createDeferred, type Deferred } from '../../../lib/async/deferred.ts';

/** Tracks the messages that a session's agent receives, one after the other. */
export interface SessionTurnTracker {
  /** The agent's current message, which a previous process may have sent. */
  current(): PendingTurn | null;
  /** True if the message is or was the current one. */
  hasSeen(messageId: string): boolean;
  /** True if the message was the current one. */
  hasEnded(messageId: string): boolean;
  /** The previous turn has ended, even if its end was not noted here. */
  start(turn: PendingTurn): void;
  /**
   * True when the agent works on this message. Waits until the message is sent and accepted. False
   * if its turn has ended, or if another message was sent instead.
   */
  waitUntilStarted(messageId: string): Promise<boolean>;
  /** Resolves when the current turn's end is in the log, or at once without a turn. */
  ended(): Promise<unknown>;
  note(facts: RunFacts): void;
}

export function createSessionTurnTracker(initial: PendingTurn | null): SessionTurnTracker {
  const seen = new Set<string>(initial === null ? [] : [initial.messageId]);
  let current = initial;
  let end: Deferred<true> = createDeferred();
  let accepted: Deferred<true> = createDeferred();
  let next: Deferred<true> = createDeferred();
  if (initial?.isAccepted) accepted.resolve(true);

  return {
    current: () => current,
    hasSeen: (messageId) => seen.has(messageId),
    hasEnded: (messageId) => seen.has(messageId) && current?.messageId !== messageId,
    start(turn) {
      seen.add(turn.messageId);
      current = turn;
      end.resolve(true);
      end = createDeferred();
      accepted = createDeferred();
      next.resolve(true);
      next = createDeferred();
    },
    async waitUntilStarted(messageId) {
      if (!seen.has(messageId)) await next.promise;
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
