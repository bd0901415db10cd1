import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

export interface MetricsAddress {
  host: string;
  port: number;
}

export interface ServedMetrics {
  close(): Promise<void>;
}

/**
 * On an address of its own: what it tells is for those who run the service, and a scrape is to be
 * answered when the service's own door is shut.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: MetricsAddress,
): Promise<ServedMetrics> {
  const server = createServer((request, response) => void answer(registry, request, response));
  server.listen(port, host);
  await once(server, 'listening');
  // An accept that fails (no descriptor left, say) costs a scrape, not the process.
  server.on('error', () => undefined);
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  registry: Registry,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' || url?.split('?')[0] !== '/metrics') {
    response.writeHead(404).end();
    return;
  }
  try {
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  } catch {
    response.writeHead(500).end();
  }
}
