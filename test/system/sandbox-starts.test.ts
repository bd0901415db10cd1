// More runs at once than a host starts at once. The worker sees one processor, so it starts one
// sandbox at a time. The agents write no output before their turn has ended.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../dev/stack/ports.ts';
import type { RunRecord } from '../support/api-client.ts';
import { linesOf } from '../support/log-lines.ts';
import { scrape, valueOf } from '../support/metrics.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
let metricsPort = 0;
beforeAll(async () => {
  const secrets = { env: { SCRIPTED_OUTPUT: 'at once' }, mcpServers: {} };
  service = await startService({ flow: { secrets } });
  metricsPort = await freePort();
  await service.worker.kill('SIGTERM');
  await service.worker.start({
    METRICS_PORT: String(metricsPort),
    NODE_OPTIONS: `--import=${new URL('../fixtures/single-processor.ts', import.meta.url).pathname}`,
  });
}, 240_000);
afterAll(() => service?.stop());

const trigger = (count: number, steps: object[]): Promise<RunRecord[]> =>
  Promise.all(Array.from({ length: count }, () => service.trigger({ prompt: script(steps) })));

const metric = async (name: string): Promise<number> =>
  valueOf(await scrape(metricsPort), name) ?? Number.NaN;

/** The runs for which the worker has logged the event. */
const runsWith = (event: string): unknown[] =>
  linesOf(service.worker.log())
    .filter(({ msg }) => msg === event)
    .map(({ runId }) => runId);

it('lets the other starts wait, and all runs succeed', { timeout: 240_000 }, async () => {
  const runs = await trigger(5, [{ say: 'Hello' }]);
  const ended = await Promise.all(runs.map(({ runId }) => service.untilEnded(runId)));
  expect(ended.map(({ exitCode, error }) => ({ exitCode, error }))).toEqual(
    runs.map(() => ({ exitCode: 0, error: undefined })),
  );
  const delayed = linesOf(service.worker.log()).filter(({ admission }) => admission === 'delayed');
  expect(delayed.length).toBeGreaterThan(0);
  expect(await metric('flowrun_sandbox_start_wait_seconds_count')).toBe(runs.length);
  expect(await metric('flowrun_sandbox_start_wait_seconds_sum')).toBeGreaterThan(0.1);
  expect(await metric('flowrun_sandbox_starts_waiting')).toBe(0);
});

it('ends runs that are stopped while they wait, without a sandbox', {
  timeout: 240_000,
}, async () => {
  const runs = await trigger(8, [{ sleepMs: 60_000 }]);
  const waiting = (): Promise<number> => metric('flowrun_sandbox_starts_waiting');
  await expect.poll(waiting, { timeout: 60_000 }).toBeGreaterThan(3);
  const body = { graceSeconds: 0 };
  await Promise.all(runs.map(({ runId }) => service.call('POST', `/runs/${runId}/stop`, { body })));
  const ended = await Promise.all(runs.map(({ runId }) => service.untilEnded(runId)));
  expect(ended.map(({ error }) => error)).toEqual(runs.map(() => 'stopped_by_api'));
  const created = runsWith('sandbox_created');
  const without = runs.filter(({ runId }) => !created.includes(runId));
  expect(without.length).toBeGreaterThan(0);
  expect(await waiting()).toBe(0);
});
