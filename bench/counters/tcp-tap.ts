import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A TCP proxy in front of a dependency that observes what the service sends. */
interface TcpTap {
  close(): Promise<void>;
}

interface TapOptions {
  listen: { port: number; host: string } | { path: string };
  to: NetConnectOpts;
  /** Called for every connection. The returned function gets the client's bytes. */
  onConnection(): (chunk: Buffer) => void;
}

export async function openTcpTap({ listen, to, onConnection }: TapOptions): Promise<TcpTap> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const see = onConnection();
    const tapped = connect({ ...to, noDelay: true });
    for (const socket of [client, tapped]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => undefined); // `close` follows and destroys the other socket
    }
    client.on('data', see);
    client.pipe(tapped);
    tapped.pipe(client);
    client.on('close', () => tapped.destroy());
    tapped.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(listen, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
