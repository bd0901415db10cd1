import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from '../app-types.ts';
import { invalid } from '../errors.ts';

/** For the server: what Node would refuse by itself is left to us. */
export const nodeHttpOptions = { requireHostHeader: false };

/**
 * Node refuses some requests by itself, without the envelope and without the headers of every
 * answer: those without a host, and those that expect something unheard of. The first are refused
 * here instead; what the others expect is not promised to them, and is no reason to refuse them.
 * Those that ask for a tunnel it hangs up on, and of very many headers it forgets the last: all of
 * them are within the bound on their bytes.
 */
export function handleNodeRejections(app: App): void {
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    app.server.emit(
      'clientError',
      Object.assign(new Error('no proxy'), { code: 'CONNECT' }),
      socket,
    );
  });
  app.server.maxHeadersCount = 0;
  app.addHook('onRequest', async ({ raw, headers }) => {
    const hasNoHost = headers.host === undefined;
    if (hasNoHost && raw.httpVersion === '1.1') throw invalid('The request has no Host header.');
  });
}
