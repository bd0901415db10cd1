// Waits for turns to end. All waits of a process share their reads: a notification that a turn may
// have ended triggers one soon, and a poll reads all awaited turns, in case a notification is lost.

import type { FastifyBaseLogger } from 'fastify';
import { createCoalescingRunner } from '../../lib/async/coalescing-runner.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { MessageEnd } from '../../systems/postgres/sessions/message-store.ts';
import type { Notification } from '../../systems/redis/subscriber.ts';
import type { ApiDeps } from '../deps.ts';

/**
 * Resolves with the end of a message's turn, or with null when the time is up or the signal aborts.
 * Never rejects: the message is stored, and an error now would make the client send it again.
 */
export type WaitForTurnEnd = (
  turn: { runId: string; messageId: string },
  options: { ms: number; signal: AbortSignal },
) => Promise<MessageEnd | null>;

type WaitDeps = Pick<ApiDeps, 'frameStream' | 'logger'> & {
  messages: Pick<ApiDeps['messages'], 'ends'>;
};

interface AwaitedTurn {
  waiters: Set<(end: MessageEnd | null) => void>;
  unsubscribe: () => void;
}

/** `closing` stops the reads; each wait ends by its own signal. */
export function createTurnWaiter(
  { messages, frameStream, logger }: WaitDeps,
  closing: AbortSignal,
): WaitForTurnEnd {
  const awaited = new Map<string, AwaitedTurn>();
  const { readSoon, close } = createSharedRead(readEnds, (err) =>
    logger.warn({ err }, 'turn_wait_poll_failed'),
  );
  const timer = setInterval(() => readSoon([...awaited.keys()]), pollMs);
  timer.unref();
  closing.addEventListener('abort', () => {
    clearInterval(timer);
    close();
  });

  async function readEnds(messageIds: string[]): Promise<void> {
    const wanted = messageIds.filter((messageId) => awaited.has(messageId));
    if (wanted.length === 0) return;
    for (const [messageId, end] of await messages.ends(wanted)) {
      for (const finish of [...(awaited.get(messageId)?.waiters ?? [])]) finish(end);
    }
  }

  function awaitTurn(runId: string, messageId: string): AwaitedTurn {
    const unsubscribe = frameStream.subscribe(runId, (notification) => {
      if (mayEndTurn(notification)) readSoon([messageId]);
    });
    const turn = { waiters: new Set<(end: MessageEnd | null) => void>(), unsubscribe };
    awaited.set(messageId, turn);
    return turn;
  }

  return ({ runId, messageId }, { ms, signal }) =>
    new Promise((resolve) => {
      const turn = awaited.get(messageId) ?? awaitTurn(runId, messageId);
      const timeout = setTimeout(giveUp, ms);
      turn.waiters.add(finish);
      signal.addEventListener('abort', giveUp);
      readSoon([messageId]);
      if (signal.aborted) giveUp();

      function giveUp(): void {
        finish(null);
      }

      function finish(end: MessageEnd | null): void {
        clearTimeout(timeout);
        signal.removeEventListener('abort', giveUp);
        turn.waiters.delete(finish);
        if (turn.waiters.size === 0) {
          turn.unsubscribe();
          awaited.delete(messageId);
        }
        resolve(end);
      }
    });
}

interface SharedRead {
  readSoon: (messageIds: string[]) => void;
  close: () => void;
}

/** One read at a time, with a pause after each. Calls in between share the next one. */
function createSharedRead(
  read: (messageIds: string[]) => Promise<void>,
  onError: (error: unknown) => void,
): SharedRead {
  const due = new Set<string>();
  async function step(): Promise<void> {
    const messageIds = [...due];
    due.clear();
    try {
      await read(messageIds);
    } catch (error) {
      onError(error);
    }
    await sleep(minIntervalMs);
  }
  const { trigger, close } = createCoalescingRunner({ step, onError });
  return {
    readSoon(messageIds) {
      for (const messageId of messageIds) due.add(messageId);
      if (due.size > 0) trigger();
    },
    close,
  };
}

/** The notification of a long batch contains only the number of its last frame. */
function mayEndTurn(notification: Notification): boolean {
  if (notification.kind !== 'frames') return notification.kind !== 'filetree';
  const { entries } = notification;
  return (
    entries.length === 0 ||
    entries.some(
      (entry) =>
        entry.kind === 'stub' || (entry.kind === 'frame' && entry.frame.event === 'turn_end'),
    )
  );
}

/** The position of a message after a wait: others were processed meanwhile. Never throws. */
export async function currentPosition(
  { messages }: Pick<ApiDeps, 'messages'>,
  sent: { runId: string; messageId: string; position: number },
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<number> {
  try {
    return await messages.position(sent.messageId);
  } catch (err) {
    const { runId, messageId, position } = sent;
    log.warn({ err, runId, messageId }, 'queue_position_failed');
    return position;
  }
}

/** The minimum time between two reads, for agents with much output. */
const minIntervalMs = 20;
const pollMs = 1_000;
