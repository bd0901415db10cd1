import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { timeouts } from '../../../sandbox/entry/constants.ts';
import { type Forward, listenForAgent } from '../../../sandbox/entry/forward.ts';
import { type FakeHost, fakeHost } from '../../support/fake-host.ts';

let root: string;
let socketPath: string;
let host: FakeHost;
let forward: Forward;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'forward-'));
  socketPath = join(root, 'x');
  host = fakeHost({ socket: socketPath });
  host.onOther((asked, response) => void asked.pipe(response));
  forward = await listen(30_000);
});

afterEach(async () => {
  forward.close();
  await host.down();
  rmSync(root, { recursive: true, force: true });
});

const listen = (connectTimeoutMs: number): Promise<Forward> =>
  listenForAgent(0, { socketPath, timeouts: { ...timeouts, connectTimeoutMs } });

function post(body: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ port: forward.port, path: '/echo', method: 'POST', agent: false });
    sent.on('response', (answer) => void text(answer).then(resolve, reject));
    sent.on('error', reject);
    sent.end(body);
  });
}

function rawServer(onClient: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, onClient);
  return new Promise((resolve) => server.listen(socketPath, () => resolve(server)));
}

test('forwards bytes in both directions on concurrent connections', async () => {
  await host.up();
  const bodies = Array.from({ length: 50 }, (_, n) => `${n}:`.repeat(5_000));
  expect(await Promise.all(bodies.map(post))).toEqual(bodies);
});

test('buffers data while the host is unreachable and delivers it later', async () => {
  const bodies = ['small', 'large'.repeat(700_000)];
  const answers = Promise.all(bodies.map(post));
  await sleep(1_000);
  const back = performance.now();
  await host.up();
  expect(await answers).toEqual(bodies);
  expect(performance.now() - back).toBeLessThan(20_000);
});

test('does not connect to the host for a client that has disconnected', async () => {
  const client = connect(forward.port, '127.0.0.1');
  client.write('POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi');
  await sleep(200);
  client.destroy();
  await sleep(300);
  await host.up();
  await sleep(300);
  expect(host.requests).toEqual([]);
});

test('closes a client after the connect timeout', async () => {
  forward.close();
  forward = await listen(1_000);
  await expect(post('hello')).rejects.toThrow(/hang up|ECONNRESET/);
});

test('closes the client at once when the host dies in the middle of a response', async () => {
  await host.up();
  host.onOther((_asked, response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('half', () => void host.down());
  });
  await expect(post('hello')).rejects.toThrow(/aborted|hang up|ECONNRESET/);
});

test('forwards a half-close and keeps the other direction open', async () => {
  const server = await rawServer((client) => {
    let received = '';
    client.on('data', (chunk) => {
      received += String(chunk);
    });
    client.on('end', () => client.end(`received ${received}`));
  });
  const client = connect({ port: forward.port, host: '127.0.0.1', allowHalfOpen: true });
  client.end('hello');
  expect(await text(client)).toBe('received hello');
  await new Promise((resolve) => server.close(resolve));
});

test('closes each side when the other disconnects', async () => {
  const clients: Socket[] = [];
  const server = await rawServer((client) => clients.push(client.resume()));
  const first = connect(forward.port, '127.0.0.1');
  const second = connect(forward.port, '127.0.0.1');
  while (clients.length < 2) await sleep(10);
  const firstGone = new Promise((resolve) => clients[0]?.once('end', resolve));
  first.destroy();
  await firstGone;
  const secondGone = new Promise((resolve) => second.once('close', resolve));
  clients[1]?.destroy();
  await secondGone;
  for (const client of clients) client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
