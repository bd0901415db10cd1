import { Context } from '@temporalio/activity';

const beatEveryMs = 3_000;

/**
 * Sends heartbeats by a timer, whatever the work is waiting for. Cancelled, by a shutdown of the
 * worker or otherwise, it lets go of the work at once: whoever goes on finds it as it is.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), beatEveryMs);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } finally {
    clearInterval(beat);
  }
}
