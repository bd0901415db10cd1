import { createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type Connect, connectDirectly } from '../../../../worker/egress/connect-proxy.ts';
import type { EgressPolicy } from '../../../../worker/egress/policy.ts';
import { callSocket, connectLine, sendRaw } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

const limited: EgressPolicy = { policy: 'limited', hosts: ['allowed.test'] };

/** Replaces the real connect: counts the calls and fails, so that no packet leaves this machine. */
function createSpy() {
  const addresses: string[] = [];
  const connect: Connect = ({ address, port }) => {
    addresses.push(`${address} ${port}`);
    return Promise.reject(new Error('refused by the spy'));
  };
  return { addresses, connect };
}

async function echoServer(): Promise<{ port: number; server: Server }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, server };
}

test('connects to the address that was checked, and passes on bytes and half-closes in both directions', async () => {
  const { port } = await echoServer();
  const exception = `mcp.test:${port}`;
  const { socketPath } = await serveRun({
    deps: {
      allowPrivate: [exception],
      lookupException: () => Promise.resolve(['127.0.0.1']),
      connect: connectDirectly,
    },
    handlers: { policy: { policy: 'limited', hosts: [exception] } },
  });
  const { socket, status } = await sendRaw(socketPath, `${connectLine(exception)}early `);
  expect(status).toBe(200);
  socket.end('and late');
  expect(await text(socket)).toBe('early and late');
});

test.each([
  ['127.0.0.1'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['64:ff9b::7f00:1'],
  ['2002:7f00:1::'],
  ['93.184.216.34,127.0.0.1'],
])('denies an allowed name that resolves to %s', async (list) => {
  const answers = list.split(',');
  const spy = createSpy();
  const { socketPath, denials } = await serveRun({
    deps: { lookup: () => Promise.resolve(answers), connect: spy.connect },
    handlers: { policy: limited },
  });
  const { status } = await sendRaw(socketPath, connectLine('allowed.test:443'));
  expect(status).toBe(403);
  expect(spy.addresses).toEqual([]);
  expect(denials).toEqual([{ host: 'allowed.test', port: 443, reason: 'not_public', count: 1 }]);
});

test('resolves a name once and never connects to the address of a second answer', async () => {
  const spy = createSpy();
  let questions = 0;
  const rebound = () => Promise.resolve(questions++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']);
  const { socketPath } = await serveRun({
    deps: { lookup: rebound, connect: spy.connect },
    handlers: { policy: limited },
  });
  const { status } = await sendRaw(socketPath, connectLine('allowed.test:443'));
  expect(status).toBe(502);
  expect(spy.addresses).toEqual(['93.184.216.34 443']);
  expect(questions).toBe(1);
});

test.each([
  ['an unlisted name', limited, 'other.test:443', 'policy'],
  ['another port', limited, 'allowed.test:22', 'policy'],
  ['a metadata address', limited, '169.254.169.254:443', 'policy'],
  [
    'any host under none',
    { policy: 'none', hosts: ['allowed.test'] },
    'allowed.test:443',
    'policy',
  ],
  ['a private literal under open', { policy: 'open', hosts: [] }, '10.0.0.1:443', 'not_public'],
  ['a loopback literal under open', { policy: 'open', hosts: [] }, '[::1]:443', 'not_public'],
  ['an address in numeric form', { policy: 'open', hosts: [] }, '2130706433:443', 'unresolvable'],
  ['an unknown name', { policy: 'open', hosts: [] }, 'nowhere.test:443', 'unresolvable'],
] as const)('denies %s and connects nowhere', async (_what, policy, authority, reason) => {
  const spy = createSpy();
  const { socketPath, denials } = await serveRun({
    deps: { lookup: () => Promise.resolve([]), connect: spy.connect },
    handlers: { policy: { policy: policy.policy, hosts: [...policy.hosts] } },
  });
  const { status } = await sendRaw(socketPath, connectLine(authority));
  expect(status).toBe(403);
  expect(denials.map((denial) => denial.reason)).toEqual([reason]);
  expect(spy.addresses).toEqual([]);
});

test('denies a request in absolute form and counts each destination', async () => {
  const { socketPath, denials } = await serveRun({});
  for (const count of [1, 2]) {
    const answer = await callSocket(socketPath, { path: 'http://127.0.0.1:8080/secret' });
    expect(answer.status).toBe(403);
    expect(denials.at(-1)).toEqual({
      host: '127.0.0.1',
      port: 8080,
      reason: 'method_not_allowed',
      count,
    });
  }
});

test('counts at most as many destinations as its limit', async () => {
  const { socketPath, denials } = await serveRun({ handlers: { policy: limited } });
  for (let place = 0; place < 230; place += 1) {
    const { socket } = await sendRaw(socketPath, connectLine(`h${place}.test:443`));
    socket.destroy();
  }
  expect(denials).toHaveLength(200);
});

test('ends its tunnels and closes its socket when the run ends', async () => {
  const { port } = await echoServer();
  const exception = `mcp.test:${port}`;
  const run = await serveRun({
    deps: {
      allowPrivate: [exception],
      lookupException: () => Promise.resolve(['127.0.0.1']),
      connect: connectDirectly,
    },
    handlers: { policy: { policy: 'open', hosts: [exception] } },
  });
  const { socket } = await sendRaw(run.socketPath, connectLine(exception));
  await run.close();
  expect(await text(socket)).toBe('');
  await expect(callSocket(run.socketPath, { path: '/control/config' })).rejects.toThrow();
});
