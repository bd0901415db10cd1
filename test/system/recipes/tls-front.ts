import type { IncomingHttpHeaders } from 'node:http';
import {
  type Behaviour,
  startReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';

/**
 * A proxy that ends TLS before a server on loopback. It records the webhooks, which must be as
 * described.
 */
export const startTlsFront = (url: string): Promise<WebhookReceiver> => startReceiver(forward(url));

function forward(url: string): Behaviour {
  return (response, { path, headers, body }) => {
    fetch(`${url}${path}`, { method: 'POST', headers: endToEnd(headers), body }).then(
      ({ status }) => response.writeHead(status).end(),
      () => response.writeHead(502).end(),
    );
  };
}

/** The headers that a proxy passes on. */
export function endToEnd(headers: IncomingHttpHeaders): Record<string, string> {
  const passed = Object.entries(headers).filter(([name]) => !hopByHop.has(name));
  return Object.fromEntries(passed.map(([name, value]) => [name, String(value)]));
}

const hopByHop = new Set(['connection', 'content-length', 'host', 'transfer-encoding']);
