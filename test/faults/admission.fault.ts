import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTemporal } from '../../systems/temporal/client.ts';
import { type ApiClient, createApiClient, type RunRecord } from '../support/api-client.ts';
import { script } from '../support/prompts.ts';
import { stackEnv } from '../support/stack-env.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';

let fixture: FaultFixture;
let apis: ApiClient[];
beforeAll(async () => {
  fixture = await startFaultFixture({ env: { RECONCILE_EVERY_MS: '1000' } });
  const { service } = fixture;
  const second = await service.anotherApi();
  await second.api.start();
  apis = [service, createApiClient({ ...service, url: second.url })];
});
afterAll(() => fixture?.stop());

const timeoutMs = 120_000;
const working = script([{ say: 'working' }, { hang: true }]);

/** A hundred at once, every second one through the other API. */
function requestHundred(headers: Record<string, string>, prompt: string) {
  const path = `/flows/${fixture.service.flowId}/runs`;
  return Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      (apis[n % 2] ?? fixture.service).call<RunRecord>('POST', path, { body: { prompt }, headers }),
    ),
  );
}

async function occupiedSlots(): Promise<number> {
  const text = 'select count(*)::int as taken from runs r where occupies_slot(r)';
  const { rows } = await fixture.service.database.pool.query<{ taken: number }>(text);
  return rows[0]?.taken ?? 0;
}

it('starts one run for a hundred triggers with one key through two API processes', async () => {
  const answers = await requestHundred({ 'idempotency-key': 'one' }, script([{ say: 'once' }]));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array.from({ length: 99 }, () => 200), 201]);
  const ids = new Set(answers.map(({ data }) => data.runId));
  expect(ids.size).toBe(1);
  const [runId = ''] = ids;
  await fixture.expectInvariants(runId, { withinMs: timeoutMs });
  expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
  const { rows } = await fixture.service.database.pool.query('select id from runs');
  expect(rows).toEqual([{ id: runId }]);
});

it('admits ten of a hundred triggers at a cap of ten, never runs more, and frees leaked slots', async () => {
  const { service, containers } = fixture;
  const admitted = await admitTenOfHundred();
  await expect
    .poll(() => service.sandboxes.list(), { timeout: timeoutMs })
    .toHaveLength(admitted.length);

  // Every process that could release the slots dies at the same moment.
  await service.worker.kill('SIGKILL');
  for (const { containerId } of await service.sandboxes.list()) {
    await service.sandboxes.remove(containerId);
  }
  const temporal = createTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
    instance: service.instance,
  });
  for (const runId of admitted) await temporal.terminate(`run/${runId}`, 'by hand');
  await temporal.close();
  expect(await occupiedSlots()).toBe(10);

  await service.worker.start();
  await expect.poll(occupiedSlots, { timeout: 60_000 }).toBe(0);
  const again = await admitTenOfHundred();
  for (const runId of again) await service.call('DELETE', `/runs/${runId}`);
  for (const runId of [...admitted, ...again]) await fixture.expectInvariants(runId);
  expect(containers.mostRunning()).toBeLessThanOrEqual(10);
});

/** Ids of the admitted runs. No query ever finds more than ten active. */
async function admitTenOfHundred(): Promise<string[]> {
  let most = 0;
  const asking = { on: true };
  const sampling = (async () => {
    while (asking.on) {
      most = Math.max(most, await occupiedSlots());
      await sleep(5);
    }
  })();
  const answers = await requestHundred({}, working);
  asking.on = false;
  await sampling;
  expect(most).toBeLessThanOrEqual(10);
  const rejected = answers.filter(({ status }) => status === 429);
  expect(rejected).toHaveLength(90);
  for (const { body } of rejected) {
    expect(body).toMatchObject({ error: { code: 'CONCURRENT_LIMIT', limit: 10, current: 10 } });
  }
  const admitted = answers.filter(({ status }) => status === 201);
  expect(admitted).toHaveLength(10);
  return admitted.map(({ data }) => data.runId);
}
