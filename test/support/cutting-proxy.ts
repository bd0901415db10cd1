import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface CuttingProxy {
  url: string;
  /** Streams that it has cut. */
  cuts(): number;
  close(): Promise<void>;
}

/** A proxy to the service that cuts a connection after some bytes of an event stream. */
export async function openCuttingProxy(
  serviceUrl: string,
  { bytesOf, cutsMax }: { bytesOf(cut: number): number; cutsMax: number },
): Promise<CuttingProxy> {
  const { hostname, port: servicePort } = new URL(serviceUrl);
  const clients = new Set<Socket>();
  let cuts = 0;
  const proxy = createServer((client) => {
    const service = connect(Number(servicePort), hostname);
    clients.add(client);
    let left = Number.POSITIVE_INFINITY;
    const end = () => {
      client.destroy();
      service.destroy();
      clients.delete(client);
    };
    for (const socket of [client, service]) socket.on('error', end).on('close', end);
    client.on('data', (data) => {
      if (/^GET \S+\/stream HTTP/.test(data.toString('latin1')) && cuts < cutsMax)
        left = bytesOf(cuts);
      service.write(data);
    });
    service.on('data', (data) => {
      const part = data.subarray(0, left);
      left -= data.length;
      if (left > 0) return void client.write(part);
      cuts += 1;
      client.write(part, end);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo; // a TCP server that listens

  async function close(): Promise<void> {
    for (const client of clients) client.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  }
  return { url: `http://127.0.0.1:${port}`, cuts: () => cuts, close };
}
