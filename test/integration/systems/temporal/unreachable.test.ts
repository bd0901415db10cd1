import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../../../../dev/stack/ports.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { stackEnv } from '../../../support/stack-env.ts';

let temporal: Temporal;
let line: Line | null = null;
afterEach(async () => {
  await temporal.close();
  await line?.cut();
});

interface Line {
  cut(): Promise<void>;
}

/** Leads from a port to the server, until it is cut. */
async function lay(port: number): Promise<Line> {
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
    async cut() {
      server.close();
      for (const socket of open) socket.destroy();
      line = null;
    },
  };
}

const patiently = { timeout: 30_000, interval: 200 };

it('says whether the server answers now, whatever it was before', async () => {
  const port = await freePort();
  temporal = createTemporal({
    namespace: 'default',
    connection: { address: `127.0.0.1:${port}` },
    instance: 'away',
  });
  const isThere = () =>
    temporal.check().then(
      () => true,
      () => false,
    );
  expect(await isThere()).toBe(false);
  line = await lay(port);
  await expect.poll(isThere, patiently).toBe(true);
  await line.cut();
  expect(await isThere()).toBe(false);
  line = await lay(port);
  await expect.poll(isThere, patiently).toBe(true);
}, 120_000);
