import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/**
 * Calls once for each request when it is over. Fastify's own hook is silent where the caller has left
 * before the last byte, which is how most streams end.
 */
export function whenOver(
  app: App,
  note: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => note(request, reply));
  });
}
