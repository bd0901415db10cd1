// The upper limit of a fan-out: a plain server that writes the same bytes to every connected
// client.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endWithParent, reportToParent } from '../support/child.ts';

export type BroadcastCommand = { bytes: Buffer };

endWithParent();
const listeners = new Set<ServerResponse>();
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  listeners.add(response);
  response.on('close', () => listeners.delete(response));
});

process.on('message', ({ bytes }: BroadcastCommand) => {
  for (const listener of listeners) listener.write(bytes);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // listening on TCP
  reportToParent({ url: `http://127.0.0.1:${port}/` });
});
