import type { FastifyReply } from 'fastify';

/** Works for as long as its caller waits: until that one has left, or the server closes. */
export async function withClientSignal<T>(
  reply: FastifyReply,
  closing: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not with `AbortSignal.any`: of every wait, `closing` would keep something until the end.
  const asked = new AbortController();
  const giveUp = () => asked.abort();
  reply.raw.once('close', giveUp);
  closing.addEventListener('abort', giveUp);
  // Who has left before now is not told of any more.
  if (closing.aborted || reply.raw.destroyed) giveUp();
  try {
    return await work(asked.signal);
  } finally {
    closing.removeEventListener('abort', giveUp);
    // A connection that was busy when the server closed would keep it open.
    if (closing.aborted) reply.header('connection', 'close');
  }
}

/** The same for what the caller has asked to wait for: its time says nothing about the service. */
export async function waitForClient<T>(
  reply: FastifyReply,
  closing: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const from = performance.now();
  try {
    return await withClientSignal(reply, closing, wait);
  } finally {
    reply.request.requestedWaitMs += performance.now() - from;
  }
}
