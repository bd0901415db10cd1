import { afterEach, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../../dev/stack/ports.ts';
import { runUntil } from '../../../../lib/async/run-until.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { openTcpHoldProxy } from '../../../faults/support/tcp-hold-proxy.ts';
import { stackEnv } from '../../../support/stack-env.ts';
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

it('ends a request before the work that makes it has to end', async () => {
  const silent = await openTcpHoldProxy(`tcp://${stackEnv.temporalAddress}`);
  onTestFinished(() => silent.close());
  const address = new URL(silent.url).host;
  temporal = createTemporal({ namespace: 'default', connection: { address }, instance: 'silent' });
  await temporal.check();
  silent.blockAll();
  const ended: string[] = [];
  const request = (name: string) =>
    temporal.describe('run/none').catch(() => void ended.push(name));
  await Promise.all([
    request('unlimited'),
    runUntil(performance.now() + 500, () => request('limited')),
  ]);
  expect(ended).toEqual(['limited', 'unlimited']);
}, 60_000);
