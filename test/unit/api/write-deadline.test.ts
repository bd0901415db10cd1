import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, type TestContext, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { installWriteDeadline } from '../../../api/http/write-deadline.ts';

const stallMs = 400;
const large = 'x'.repeat(24 * 1024 ** 2);

type Registrar = Pick<TestContext, 'onTestFinished'>;

/** A server, and a function that sends it requests without reading the answers. */
async function startServer({ onTestFinished }: Registrar, serverStallMs = stallMs) {
  const app: App = Fastify();
  onTestFinished(() => app.close());
  installWriteDeadline(app, serverStallMs);
  app.get('/text', async () => large);
  app.get('/blob', (_request, reply) => reply.send(Readable.from([Buffer.from(large)])));
  app.get('/slow-source', (_request, reply) => reply.send(Readable.from(slowly())));
  app.get('/slow', async () => {
    await sleep(3 * stallMs);
    return 'late';
  });
  app.get('/small', async () => 'small');
  const folder = mkdtempSync(join(tmpdir(), 'write-deadline-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Its buffer is small. Those of TCP can hold a whole answer, or be closed for seconds.
  const path = join(folder, 'socket');
  await app.listen({ path });
  const send = (...urls: string[]): Socket => {
    const socket = connect(path).pause();
    onTestFinished(() => void socket.destroy());
    const heads = urls.map((url, n) => {
      const connection = n === urls.length - 1 ? 'connection: close\r\n' : '';
      return `GET ${url} HTTP/1.1\r\nhost: a\r\n${connection}\r\n`;
    });
    socket.on('error', () => undefined).write(heads.join(''));
    return socket;
  };
  const sockets = () =>
    new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  return { send, sockets };
}

async function* slowly() {
  for (const part of ['a', 'b', 'c']) {
    await sleep(1.5 * stallMs);
    yield Buffer.from(part);
  }
}

/** Reads to the end. On a busy machine it catches up, so that its rate is the same. */
async function read(socket: Socket, bytesPerMs = Number.POSITIVE_INFINITY): Promise<string> {
  const began = performance.now();
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of socket as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    const aheadMs = length / bytesPerMs - (performance.now() - began);
    if (aheadMs > 0) await sleep(aheadMs);
  }
  return Buffer.concat(parts).toString();
}

test.for(['/text', '/blob'])('disconnects a peer that does not read %s', async (path, context) => {
  const { send, sockets } = await startServer(context);
  await once(send(path), 'connect');
  await expect.poll(sockets).toBe(1);
  await expect.poll(sockets, { timeout: 5 * stallMs }).toBe(0);
});

test.concurrent.for(['/text', '/blob'])(
  'serves all of %s to a peer that reads slowly',
  async (path, context) => {
    // Reading takes four seconds, and no busy machine delays one read by as much as the deadline.
    const serverStallMs = 2_500;
    const { send } = await startServer(context, serverStallMs);
    const began = performance.now();
    const text = await read(send(path), large.length / 4_000);
    expect(performance.now() - began).toBeGreaterThan(serverStallMs);
    expect(text.length - text.indexOf('\r\n\r\n')).toBeGreaterThan(large.length);
  },
);

test('waits for a slow source and a slow handler', async (context) => {
  const { send } = await startServer(context);
  const answers = await Promise.all([read(send('/slow-source')), read(send('/slow', '/small'))]);
  expect(answers[0]).toMatch(/a\r\n.*b\r\n.*c\r\n/s);
  expect(answers[1]).toMatch(/late.*small/s);
});
