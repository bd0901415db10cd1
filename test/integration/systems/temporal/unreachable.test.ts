import { afterEach, expect, it } from 'vitest';
import { freePort } from '../../../../dev/stack/ports.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { forwardTemporal, type TemporalForward } from './forward-temporal.ts';

let temporal: Temporal;
let proxy: TemporalForward | null = null;
afterEach(async () => {
  await temporal.close();
  await proxy?.close();
});

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
  proxy = await forwardTemporal(port);
  await expect.poll(answers, slowPoll).toBe(true);
  await proxy.close();
  expect(await answers()).toBe(false);
  proxy = await forwardTemporal(port);
  await expect.poll(answers, slowPoll).toBe(true);
}, 120_000);
