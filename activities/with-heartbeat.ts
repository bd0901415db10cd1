import { Context } from '@temporalio/activity';

const heartbeatEveryMs = 3_000;

/**
 * Sends heartbeats by a timer while the work is in progress. On cancellation, for example when the worker
 * shuts down, it detaches from the work at once. The next attempt attaches to it again.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatEveryMs);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}
