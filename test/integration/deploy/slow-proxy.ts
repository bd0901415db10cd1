import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A proxy to Postgres that delays a client after its TLS request until released. */
export async function openSlowProxy(postgresPort: number) {
  const events = new EventEmitter();
  const held = once(events, 'held');
  const proxy = createServer((client) => {
    const server = connect(postgresPort, '127.0.0.1');
    server.pipe(client);
    client.on('error', () => undefined);
    server.on('error', () => undefined);
    client.once('data', (tlsRequest) => {
      server.write(tlsRequest);
      client.pause();
      events.once('release', () => client.pipe(server));
      events.emit('held');
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo; // a TCP server that listens
  return { port, held, release: () => events.emit('release'), close: () => proxy.close() };
}
