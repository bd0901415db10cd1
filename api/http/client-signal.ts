import type { FastifyReply } from 'fastify';

/** Aborts the work's signal when the client disconnects or the server closes. */
export async function withClientSignal<T>(
  reply: FastifyReply,
  closing: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // `AbortSignal.any` would leave a listener on `closing` for every request.
  const client = new AbortController();
  const abort = () => client.abort();
  reply.raw.once('close', abort);
  closing.addEventListener('abort', abort);
  // A client that has disconnected already emits no further `close`.
  if (closing.aborted || reply.raw.destroyed) abort();
  try {
    return await work(client.signal);
  } finally {
    closing.removeEventListener('abort', abort);
    // A kept-alive connection would delay the server's shutdown.
    if (closing.aborted) reply.header('connection', 'close');
  }
}

/** The same for a wait that the client asked for, whose time is excluded from metrics. */
export async function waitForClient<T>(
  reply: FastifyReply,
  closing: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const from = performance.now();
  // Others should not wait for the memory of a body that was used already.
  reply.request.releaseBody?.();
  try {
    return await withClientSignal(reply, closing, wait);
  } finally {
    reply.request.requestedWaitMs += performance.now() - from;
  }
}
