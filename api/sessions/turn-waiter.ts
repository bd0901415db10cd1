import type { FastifyBaseLogger } from 'fastify';
import { createNotifier } from '../../lib/async/notifier.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { MessageEnd } from '../../systems/postgres/sessions/message-store.ts';
import type { ApiDeps } from '../deps.ts';

interface AwaitedTurn {
  runId: string;
  messageId: string;
  timeoutMs: number;
  /** Aborts when the client has disconnected. */
  signal: AbortSignal;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * The end of a message's turn; null if it has not ended in time. Notifications of the session trigger
 * a read, and so does a poll, in case a notification is lost. Never throws: the message is stored, and
 * an error now would make the client send it again.
 */
export async function waitForTurnEnd(
  { messages, frameStream }: Pick<ApiDeps, 'messages' | 'frameStream'>,
  { runId, messageId, timeoutMs, signal, log }: AwaitedTurn,
): Promise<MessageEnd | null> {
  const readEnd = () =>
    messages.end(messageId).catch((err: unknown) => {
      log.warn({ err, runId, messageId }, 'turn_wait_poll_failed');
      return null;
    });
  const endsAt = performance.now() + timeoutMs;
  const notifier = createNotifier();
  const unsubscribe = frameStream.subscribe(runId, notifier.notify);
  try {
    while (!signal.aborted && performance.now() < endsAt) {
      const end = await readEnd();
      if (end !== null) return end;
      await sleep(minIntervalMs, signal);
      await notifier.waitAtMost(pollMs, signal);
    }
    return await readEnd();
  } finally {
    unsubscribe();
  }
}

/** The position of a message after a wait: others were processed meanwhile. Never throws. */
export async function currentPosition(
  { messages }: Pick<ApiDeps, 'messages'>,
  sent: { runId: string; messageId: string; position: number },
  log: AwaitedTurn['log'],
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
