import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that can delay everything that is sent to a server. */
export interface TcpHoldProxy {
  /** The server's address through the proxy. */
  url: string;
  /** Holds data from the first chunk that matches; from the next chunk if omitted. */
  hold(from?: RegExp): void;
  /** The data on hold. */
  held(): string;
  /** Sends the data, even if its sender has disconnected. */
  release(): void;
  /** The server's answers since the last release. */
  answered(): string;
  /** Drops all data of existing connections; new ones are not affected. */
  blockOpenConnections(): void;
  /** Drops all data of all connections, new ones too, until `restore`. */
  blockAll(): void;
  /** Closes the blocked connections; new ones are not affected. */
  restore(): void;
  close(): void;
}

export async function openTcpHoldProxy(serverUrl: string): Promise<TcpHoldProxy> {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let holdsFrom: RegExp | null = null;
  let isHolding = false;
  const held: { chunk: Buffer; to: Socket }[] = [];
  let answers: Buffer[] = [];
  const blocked = new Set<Socket>();
  let isBlocked = false;

  const proxy = createServer((client) => {
    const server = connect(target);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // one of the two was killed
      if (isBlocked) blocked.add(socket);
    }
    client.on('data', (chunk) => {
      if (blocked.has(client)) return;
      isHolding ||= holdsFrom?.test(chunk.toString()) ?? false;
      if (isHolding) held.push({ chunk, to: server });
      else server.write(chunk);
    });
    // Held data is still sent, so the server's socket stays open until the proxy closes.
    client.on('close', () => void (isHolding || held.length > 0 || server.end()));
    server.on('data', (chunk) => {
      if (blocked.has(server)) return;
      answers.push(chunk);
      if (!client.destroyed) client.write(chunk);
    });
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    hold(from = /^/) {
      holdsFrom = from;
    },
    held: () => held.map(({ chunk }) => chunk.toString()).join(''),
    release() {
      holdsFrom = null;
      isHolding = false;
      answers = [];
      for (const { chunk, to } of held.splice(0)) to.write(chunk);
    },
    answered: () => Buffer.concat(answers).toString(),
    blockOpenConnections() {
      for (const socket of sockets) blocked.add(socket);
    },
    blockAll() {
      isBlocked = true;
      for (const socket of sockets) blocked.add(socket);
    },
    restore() {
      isBlocked = false;
      for (const socket of blocked) socket.destroy();
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
