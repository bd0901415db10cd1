import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startOfflineModel } from '../../../offline-model/server.ts';
import { script } from '../../support/prompts.ts';
import { newFolder, runAgent } from './agent-process.ts';
import { textsOf } from './lines.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

async function serve(listener: RequestListener, at: number | string = 0): Promise<Server> {
  const server = createServer(listener);
  servers.push(server);
  if (typeof at === 'string') server.listen(at);
  else server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  // listening on TCP
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function resultsOf(steps: readonly unknown[], env: Record<string, string> = {}) {
  const { lines } = await runAgent(script(steps), { env });
  return lines.flatMap((line) => line['tool_use_result'] ?? []);
}

describe('the network of the agent', () => {
  it('makes a direct request, with method, headers from the environment, and body', async () => {
    const server = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body) => {
        response
          .writeHead(418)
          .end(`${request.method} ${String(request.headers['x-token'])} ${body}`);
      });
    });
    const http = {
      url: `${urlOf(server)}/path`,
      method: 'PUT',
      headers: { 'x-token': '{{TOKEN}}' },
      body: { a: 1 },
    };
    expect(await resultsOf([{ http }], { TOKEN: 'secret' })).toEqual(['418\nPUT secret {"a":1}']);
  });

  it('connects to a unix socket', async () => {
    const socketPath = join(newFolder(), 'x');
    await serve((request, response) => void response.end(`over ${request.url}`), socketPath);
    const http = { url: 'http://host/control/config', socketPath };
    expect(await resultsOf([{ http }])).toEqual(['200\nover /control/config']);
  });

  it('sends the absolute form to the proxy, and prints its response to a tunnel', async () => {
    const proxy = await serve((request, response) => void response.end(`proxied ${request.url}`));
    proxy.on('connect', (request, socket) => {
      const status = request.url === 'allowed.test:443' ? '200 OK' : '403 Forbidden';
      socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    });
    const steps = [
      { http: { url: 'http://plain.test/a', viaProxy: true } },
      { connectProxy: 'allowed.test:443' },
      { connectProxy: 'forbidden.test:443' },
      { http: { url: 'https://forbidden.test/', viaProxy: true } },
    ];
    expect(await resultsOf(steps, { HTTPS_PROXY: urlOf(proxy) })).toEqual([
      '200\nproxied http://plain.test/a',
      '200 OK',
      '403 Forbidden',
      '403 from the proxy',
    ]);
  });

  it('prints the error if nothing listens', async () => {
    const [result] = await resultsOf([{ http: { url: 'http://127.0.0.1:1/' } }]);
    expect(result).toContain('ECONNREFUSED');
  });

  it('calls the model with the key of its environment', async () => {
    const model = await startOfflineModel();
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sandbox' };
    const { lines } = await runAgent(script([{ model: 'What is new?' }]), { env });
    expect(textsOf(lines)[0]).toContain('“What is new?”');
    expect(model.requests()[0]?.headers['x-api-key']).toBe('sandbox');
    await model.close();
  });
});
