import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server on which everything that is sent there can be held back for a while. */
export interface TcpHoldProxy {
  /** The server's address, by this way. */
  url: string;
  /** From the first piece on that says this; from the next on if not given. */
  hold(from?: RegExp): void;
  /** All that waits. */
  held(): string;
  /** Sends it on, even where its sender is gone by now. */
  release(): void;
  /** All that the server has answered since. */
  answered(): string;
  /** Not a word goes through any more on the connections that there are; new ones are as before. */
  silence(): void;
  /** Not a word on any connection, new ones too, until it is mended. */
  cut(): void;
  /** Ends what was silent; new connections are as before. */
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
  const silent = new Set<Socket>();
  let isCut = false;

  const proxy = createServer((client) => {
    const server = connect(target);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // one of the two was killed
      if (isCut) silent.add(socket);
    }
    client.on('data', (chunk) => {
      if (silent.has(client)) return;
      isHolding ||= holdsFrom?.test(chunk.toString()) ?? false;
      if (isHolding) held.push({ chunk, to: server });
      else server.write(chunk);
    });
    // What is held is still sent: the server is only left when the way is closed.
    client.on('close', () => void (isHolding || held.length > 0 || server.end()));
    server.on('data', (chunk) => {
      if (silent.has(server)) return;
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
    silence() {
      for (const socket of sockets) silent.add(socket);
    },
    cut() {
      isCut = true;
      for (const socket of sockets) silent.add(socket);
    },
    restore() {
      isCut = false;
      for (const socket of silent) socket.destroy();
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
