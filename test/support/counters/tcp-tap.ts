import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** Observes one connection: the client's bytes and the server's. */
export interface ConnectionObserver {
  sent(chunk: Buffer): void;
  answered?(chunk: Buffer): void;
  closed?(): void;
}

/** A TCP proxy in front of a dependency that observes what the service sends. */
export interface TcpTap {
  close(): Promise<void>;
}

interface TapOptions {
  listen: { port: number; host: string } | { path: string };
  to: NetConnectOpts;
  onConnection(): ConnectionObserver;
}

export async function openTcpTap({ listen, to, onConnection }: TapOptions): Promise<TcpTap> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const { sent, answered = () => undefined, closed = () => undefined } = onConnection();
    const tapped = connect({ ...to, noDelay: true, allowHalfOpen: true });
    for (const socket of [client, tapped]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => undefined); // `close` follows and destroys the other socket
    }
    // Observed before it is forwarded: a call is in the log before its effect.
    client.on('data', sent);
    tapped.on('data', answered);
    client.pipe(tapped);
    tapped.pipe(client);
    // The server finishes the calls of a client that has gone.
    client.on('close', () => void tapped.end().resume());
    tapped.on('close', () => {
      client.destroy();
      closed();
    });
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
