import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { NetworkPolicy } from '../../../../../core/flows/flow.ts';
import { serveRun } from '../egress-fixture.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * A model on loopback. It is the operator's setting, so plain HTTP and private addresses are
 * allowed.
 */
export async function startModel(handle: Handle): Promise<string> {
  const server = createServer((request, response) => void handle(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

const question = JSON.stringify({
  model: 'any',
  max_tokens: 1,
  messages: [{ role: 'user', content: 'päivää' }],
});

export const call = { method: 'POST', path: '/model/v1/messages', body: question };

export const serveModel = (baseUrl: string) =>
  serveRun({ deps: { modelUpstream: { apiKey: 'operator-key', baseUrl } } });

interface RecordedCall {
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A run of a flow with this policy, and the calls that the model receives from it. */
export async function recordCalls(policy: NetworkPolicy) {
  const calls: RecordedCall[] = [];
  const baseUrl = await startModel(async (request, response) => {
    calls.push({ url: request.url, headers: request.headers, body: await text(request) });
    response.end('{}');
  });
  const { socketPath } = await serveRun({
    deps: { modelUpstream: { apiKey: 'operator-key', baseUrl } },
    handlers: { policy: { policy, hosts: [] } },
  });
  return { socketPath, calls };
}
