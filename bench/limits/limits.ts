import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import type { Service } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { startChild } from './child.ts';
import type { LimitCommand, LimitSetting } from './limit-server.ts';

/** What the same machine and servers need for the same task without the service. */
export interface Limits {
  /** The address of a route with one INSERT. */
  insertUrl: string;
  /** Milliseconds from a POST to the arrival of its body at the other end of a socket. */
  deliver(body: object): Promise<number>;
  /** Milliseconds from before a commit to the arrival of the message published after it. */
  publish(): Promise<number>;
  /** When the message published at the start arrived, by `machineMs`. */
  firstPublishedAt: number;
  /** Starts a commit and a POST over a new TLS connection. Its body has the time of the start. */
  post(url: string, caFile: string): void;
  /** The address of a plain server whose readers get what is broadcast. */
  streamUrl: string;
  broadcast(bytes: Buffer): void;
  pid(): number;
  close(): Promise<void>;
}

const frameChannel = 'bench:frame';

export async function startLimits(
  { database, dataDir }: Service,
  { publishesAtStart = false } = {},
): Promise<Limits> {
  const socketPath = join(dataDir, 'limit.sock');
  const received = listenOnce();
  const server = createServer((socket: Socket) => socket.on('data', () => received.arrive()));
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  const { redisUrl } = stackEnv;
  const subscriber = new Redis(redisUrl);
  await subscriber.subscribe(frameChannel);
  const firstPublished = new Promise<number>((resolve) => {
    if (publishesAtStart) subscriber.once('message', () => resolve(machineMs()));
    else resolve(Number.NaN);
  });
  const addresses = { databaseUrl: database.url, redisUrl, socketPath, frameChannel };
  const setting: LimitSetting = { ...addresses, publishesAtStart };
  const program = new URL('./limit-server.ts', import.meta.url);
  const child = startChild<LimitCommand, { url: string; streamUrl: string }>(program, setting);
  const { url, streamUrl } = await child.answer();

  return {
    insertUrl: `${url}/insert`,
    async deliver(body) {
      const arrival = received.next();
      const postedAt = machineMs();
      await post(`${url}/deliver`, body);
      return (await arrival) - postedAt;
    },
    async publish() {
      const arrival = new Promise<number>((resolve) =>
        subscriber.once('message', (_channel, text) => {
          const { beganAt } = JSON.parse(text) as { beganAt: number }; // limit-server.ts sends it
          resolve(machineMs() - beganAt);
        }),
      );
      child.send({ kind: 'publish' });
      return arrival;
    },
    firstPublishedAt: await firstPublished,
    post: (to, caFile) => child.send({ kind: 'post', url: to, caFile }),
    streamUrl,
    broadcast: (bytes) => child.send({ kind: 'broadcast', bytes }),
    pid: () => child.pid(),
    async close() {
      subscriber.disconnect();
      await child.stop();
      server.close();
    },
  };
}

function listenOnce() {
  let resolveNext: ((at: number) => void) | null = null;
  return {
    next: () => new Promise<number>((resolve) => (resolveNext = resolve)),
    arrive: () => resolveNext?.(machineMs()),
  };
}

async function post(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  await response.arrayBuffer();
}
