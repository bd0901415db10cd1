import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

export interface MetricsAddress {
  host: string;
  port: number;
}

interface ServedMetrics {
  close(): Promise<void>;
}

/**
 * Served at a separate address: metrics are for operators only, and must stay reachable when the
 * public listener is closed.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: MetricsAddress,
): Promise<ServedMetrics> {
  const server = createServer((request, response) => void answer(registry, request, response));
  server.listen(port, host);
  await once(server, 'listening');
  // A failed accept (no file descriptor left, for example) fails one scrape, not the process.
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
