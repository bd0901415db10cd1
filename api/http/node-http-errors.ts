import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from '../app-types.ts';
import { invalid } from '../errors.ts';

/** Server options: the missing `Host` header is rejected below instead of by Node. */
export const nodeHttpOptions = { requireHostHeader: false };

/**
 * Node rejects some requests itself, without the envelope and the common headers. A request without
 * `Host` is rejected here instead. An unknown `Expect` is ignored. For CONNECT Node closes the
 * connection; here it gets an answer. Node drops headers beyond a count; here all of them are kept,
 * because their bytes are bounded.
 */
export function handleNodeRejections(app: App): void {
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    const error = Object.assign(new Error('CONNECT is not supported'), { code: 'CONNECT' });
    app.server.emit('clientError', error, socket);
  });
  app.server.maxHeadersCount = 0;
  app.addHook('onRequest', async ({ raw, headers }) => {
    const hasNoHost = headers.host === undefined;
    if (hasNoHost && raw.httpVersion === '1.1') throw invalid('The request has no Host header.');
  });
}
