import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/**
 * Calls once for each request when it is over. Fastify's own hook is silent where the caller has left
 * before the last byte, which is how most streams end. What a note throws is logged: unheard, it would
 * end the process.
 */
export function onResponseClose(
  app: App,
  note: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      try {
        note(request, reply);
      } catch (err) {
        request.log.error({ err }, 'request_hook_failed');
      }
    });
  });
}
