import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/** What came last on a connection and is not over: nothing is read there before it has come whole. */
export interface InFlightRequest {
  request: FastifyRequest;
  reply: FastifyReply;
}

export type InFlightRequests = WeakMap<Socket, InFlightRequest>;

/** Of one that is answered before it has come whole, the rest is still to come. */
export function trackInFlightRequests(app: App, inHand: InFlightRequests): void {
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    const { socket } = raw;
    inHand.set(socket, { request, reply });
    reply.raw.once('close', () => {
      if (raw.complete && inHand.get(socket)?.request === request) inHand.delete(socket);
    });
  });
}
