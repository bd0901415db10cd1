import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { MessageEnd } from '../../systems/postgres/sessions/message-store.ts';
import type { ApiDeps } from '../deps.ts';

export interface AwaitedTurn {
  runId: string;
  messageId: string;
  timeoutMs: number;
  /** Nobody waits any more. */
  signal: AbortSignal;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * How the turn of a message ended; null where it has not, in time. What is published of the session
 * makes this look; and a tick, in case nobody was there to publish it. Never throws: the message is
 * stored, and an answer that fails now would have it sent once more.
 */
export async function waitForTurnEnd(
  { messages, frameStream }: Pick<ApiDeps, 'messages' | 'frameStream'>,
  { runId, messageId, timeoutMs: withinMs, signal, log }: AwaitedTurn,
): Promise<MessageEnd | null> {
  const look = () =>
    messages.end(messageId).catch((err: unknown) => {
      log.warn({ err, runId, messageId }, 'turn_wait_poll_failed');
      return null;
    });
  const endsAt = performance.now() + withinMs;
  let bell = new AbortController();
  const unsubscribe = frameStream.subscribe(runId, () => bell.abort());
  try {
    while (!signal.aborted && performance.now() < endsAt) {
      bell = new AbortController();
      const end = await look();
      if (end !== null) return end;
      await pause(restMs, signal);
      await pause(tickMs, AbortSignal.any([bell.signal, signal]));
    }
    return await look();
  } finally {
    unsubscribe();
  }
}

/** Of a message that was waited for: others have had their turn meanwhile. Never throws, as above. */
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

/** An agent that floods is not followed frame by frame. */
const restMs = 20;
const tickMs = 1_000;

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
