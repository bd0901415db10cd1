import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Exchange {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

interface StandInAnswer {
  status: number;
  body?: string;
  headers?: Record<string, string>;
}

interface StandIn {
  url: string;
  close(): Promise<void>;
}

/** An HTTP server on loopback in place of the API of another service. */
export async function startStandIn(
  answer: (exchange: Exchange) => StandInAnswer | Promise<StandInAnswer>,
): Promise<StandIn> {
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    text(request)
      .then((body) => answer({ method, path, headers, body }))
      .then(
        ({ status, body = '', headers: sent = {} }) => response.writeHead(status, sent).end(body),
        () => response.writeHead(400).end(),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
