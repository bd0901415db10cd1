import type { FastifyReply } from 'fastify';

/** Calls `listener` when the answer was written or its client has disconnected. */
export function onAnswerEnd({ raw, request }: FastifyReply, listener: () => void): void {
  if (request.raw.socket.destroyed) return listener();
  // Every hook adds a listener: more than ten are not a leak.
  raw.setMaxListeners(0);
  raw.once('close', listener);
}
