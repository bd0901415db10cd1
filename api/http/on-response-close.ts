import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/**
 * Runs a hook once for each request when its response is closed. Fastify's `onResponse` does not
 * run if the client disconnects before the last byte, and most streams end so. An error in the hook
 * is logged: uncaught, it would end the process.
 */
export function onResponseClose(
  app: App,
  hook: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      try {
        hook(request, reply);
      } catch (err) {
        request.log.error({ err }, 'request_hook_failed');
      }
    });
  });
}

/** Calls `listener` when the answer was written or its client has disconnected. */
export function onAnswerEnd({ raw, request }: FastifyReply, listener: () => void): void {
  if (request.raw.socket.destroyed) return listener();
  // Every hook adds a listener: more than ten are not a leak.
  raw.setMaxListeners(0);
  raw.once('close', listener);
}
