// Terminates TLS in front of a store without TLS, as the proxies of managed stores do.
// It forwards the bytes unchanged.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Certified } from './authority.ts';

interface TlsProxy {
  port: number;
  /** The name that the client requested. */
  names: (string | false | null)[];
  close(): void;
}

interface TlsProxyOptions {
  /** The destination port on loopback. */
  to: number;
  shows: Certified;
  /** The authority of the client certificates it demands. Undefined if it demands none. */
  demands?: string;
  /** A Postgres client first requests TLS in Postgres's own protocol. */
  speaks?: 'postgres';
}

export async function openTlsProxy({
  to,
  shows,
  demands,
  speaks,
}: TlsProxyOptions): Promise<TlsProxy> {
  const open = new Set<Socket>();
  const names: TlsProxy['names'] = [];
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  };
  const forward = (client: TLSSocket): void => {
    names.push(client.servername);
    const store = connect(to, '127.0.0.1');
    [client, store].forEach(keep);
    client.pipe(store).pipe(client);
    client.on('close', () => store.destroy());
    store.on('close', () => client.destroy());
  };
  const demand = demands === undefined ? {} : { ca: demands, requestCert: true };
  const secure = createTlsServer({ ...shows, ...demand, ALPNProtocols: ['h2'] }, forward);
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  const server =
    speaks === 'postgres' ? createServer((socket) => answerTlsRequest(socket)) : secure;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function answerTlsRequest(socket: Socket): void {
    keep(socket);
    socket.once('data', (firstBytes) => {
      if (!firstBytes.equals(tlsRequest)) return void socket.destroy();
      socket.write('S');
      secure.emit('connection', socket);
    });
  }

  return {
    port: (server.address() as AddressInfo).port, // listening on TCP
    names,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

const tlsRequest = Buffer.from('0000000804d2162f', 'hex');
