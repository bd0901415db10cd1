import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../../../../dev/stack/ports.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { stackEnv } from '../../../support/stack-env.ts';

let temporal: Temporal;
let proxy: Proxy | null = null;
afterEach(async () => {
  await temporal.close();
  await proxy?.close();
});

interface Proxy {
  close(): Promise<void>;
}

/** Forwards a port to the server until it is closed. */
async function startProxy(port: number): Promise<Proxy> {
  const [host = '', serverPort] = stackEnv.temporalAddress.split(':');
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(Number(serverPort), host);
    for (const socket of [near, far]) open.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      proxy = null;
    },
  };
}

const slowPoll = { timeout: 30_000, interval: 200 };

it('reports each loss and return of the server', async () => {
  const port = await freePort();
  temporal = createTemporal({
    namespace: 'default',
    connection: { address: `127.0.0.1:${port}` },
    instance: 'unreachable',
  });
  const answers = () =>
    temporal.check().then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(false);
  proxy = await startProxy(port);
  await expect.poll(answers, slowPoll).toBe(true);
  await proxy.close();
  expect(await answers()).toBe(false);
  proxy = await startProxy(port);
  await expect.poll(answers, slowPoll).toBe(true);
}, 120_000);
