// The agent's only way out: what connects to 127.0.0.1:8118 is passed on, byte for byte, to the
// run's socket. While the host is away a connection is held and the socket dialled again, so that a
// restart of the host is a delay and not an error that the agent would back off from for long.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeouts } from './constants.ts';

const connectionsMax = 1_000;
const heldMaxBytes = 2 * 1024 * 1024;

export interface Forward {
  port: number;
  close(): void;
}

export async function listenForAgent(
  port: number,
  { socketPath, timeouts }: { socketPath: string; timeouts: Timeouts },
): Promise<Forward> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    void passOn(client, socketPath, timeouts);
  });
  server.maxConnections = connectionsMax;
  await listening(server, port);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the forwarder has no port');
  return { port: address.port, close: () => void server.close() };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on('error', reject); // one of later is a client that could not be taken in
    server.listen({ host: '127.0.0.1', port }, () => resolve());
  });
}

async function passOn(client: Socket, socketPath: string, timeouts: Timeouts): Promise<void> {
  const held = hold(client);
  const host = await dialUntil(socketPath, timeouts, held.gone);
  if (host === null) return void client.destroy();
  for (const chunk of held.release()) host.write(chunk);
  if (client.readableEnded) host.end();
  join(client, host);
  join(host, client);
}

/** Keeps what an early client says, up to a bound, and notices when it leaves. */
function hold(client: Socket) {
  const chunks: Buffer[] = [];
  const left = new AbortController();
  const leave = (): void => left.abort();
  const keep = (chunk: Buffer): void => {
    chunks.push(chunk);
    if (client.bytesRead > heldMaxBytes) client.pause();
  };
  client.on('data', keep).on('error', leave).on('end', leave).on('close', leave);
  const release = (): Buffer[] => {
    client.pause().off('data', keep).off('end', leave).off('close', leave);
    return chunks;
  };
  return { gone: left.signal, release };
}

async function dialUntil(
  path: string,
  timeouts: Timeouts,
  gone: AbortSignal,
): Promise<Socket | null> {
  const end = performance.now() + timeouts.connectTimeoutMs;
  for (;;) {
    const host = await dial(path);
    if (host !== null) return host;
    await sleep(timeouts.redialMs);
    if (gone.aborted || performance.now() > end) return null;
  }
}

function dial(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const host = connect({ path, allowHalfOpen: true });
    host.once('connect', () => resolve(host));
    host.once('error', () => resolve(null));
  });
}

/** One direction. An end is passed on as an end; when all is over, what has come is still delivered. */
function join(from: Socket, to: Socket): void {
  from.on('error', () => {}); // its close comes next
  from.on('close', () => to.destroySoon());
  from.pipe(to);
}
