// The agent's only network access: connections to 127.0.0.1:8118 are forwarded to the run's socket.
// While the host is unreachable a connection is buffered and the socket redialled, so that a
// restart of the host is a delay and not an error, after which the agent would back off for long.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeouts } from './constants.ts';

const connectionsMax = 1_000;
const bufferMaxBytes = 2 * 1024 * 1024;

export interface Forward {
  port: number;
  close(): void;
}

export async function listenForAgent(
  port: number,
  { socketPath, timeouts }: { socketPath: string; timeouts: Timeouts },
): Promise<Forward> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    void forwardConnection(client, socketPath, timeouts);
  });
  server.maxConnections = connectionsMax;
  await listening(server, port);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the forwarder has no port');
  return { port: address.port, close: () => void server.close() };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on('error', reject); // a later error is one of accepting a client
    server.listen({ host: '127.0.0.1', port }, () => resolve());
  });
}

async function forwardConnection(
  client: Socket,
  socketPath: string,
  timeouts: Timeouts,
): Promise<void> {
  const early = buffer(client);
  const host = await dialUntil(socketPath, timeouts, early.gone);
  if (host === null) return void client.destroy();
  for (const chunk of early.release()) host.write(chunk);
  if (client.readableEnded) host.end();
  pipe(client, host);
  pipe(host, client);
}

/** Buffers early data of a client, up to a limit, and detects that it disconnects. */
function buffer(client: Socket) {
  const chunks: Buffer[] = [];
  const left = new AbortController();
  const leave = (): void => left.abort();
  const append = (chunk: Buffer): void => {
    chunks.push(chunk);
    if (client.bytesRead > bufferMaxBytes) client.pause();
  };
  client.on('data', append).on('error', leave).on('end', leave).on('close', leave);
  const release = (): Buffer[] => {
    client.pause().off('data', append).off('end', leave).off('close', leave);
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

/** One direction. Forwards the end of the stream, and flushes pending data before closing. */
function pipe(from: Socket, to: Socket): void {
  from.on('error', () => {}); // followed by its close event
  from.on('close', () => to.destroySoon());
  from.pipe(to);
}
