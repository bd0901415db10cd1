import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { testSealer } from '../../support/database.ts';
import { createScenario, type Scenario } from '../../support/database-records.ts';
import { type Answer, caller } from './call.ts';
import { idsOf, newLister, nextOf, setColumn, trigger, turnPages } from './lister.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

const newTenant = () => newLister(fixture, api);
const set = (...given: Parameters<ReturnType<typeof setColumn>>) => setColumn(fixture)(...given);

test('lists the runs of the project, latest first, with all fields of a single run except the prompt', async () => {
  const { ask, run } = await newTenant();
  const ids = [await run({ name: 'One' }), await run({ labels: { a: 'b' } }), await run()];
  const list = await ask('/api/v1/runs');
  expect(list.status).toBe(200);
  expect(Object.keys(list.json)).toEqual(['data']);
  expect(idsOf(list)).toEqual(ids.reverse());
  expect(list.headers.has('link')).toBe(false);
  for (const [i, runId] of ids.entries()) {
    expect(list.json.data[i]).not.toHaveProperty('prompt');
    const read = (await ask(`/api/v1/runs/${runId}`)).json.data;
    expect(read).toMatchObject({ ...list.json.data[i], prompt: 'Go' });
  }
  const empty = await newTenant();
  expect((await empty.ask('/api/v1/runs')).json).toEqual({ data: [] });
});

test('omits deleted runs', async () => {
  const { ask, run } = await newTenant();
  const [kept, deleted] = [await run(), await run()];
  await ask(`/api/v1/runs/${deleted}`, { method: 'DELETE' });
  expect(idsOf(await ask('/api/v1/runs'))).toEqual([kept]);
});

test('its pages stay consistent while runs are added and deleted', async () => {
  const { ask, run } = await newTenant();
  const ids: string[] = [];
  for (let i = 0; i < 7; i += 1) ids.unshift(await run());
  let next: string | null = '/api/v1/runs?limit=2';
  const seen: string[][] = [];
  while (next !== null) {
    const page: Answer = await ask(next);
    seen.push(idsOf(page));
    next = nextOf(page);
    await run();
    // The run at the end of the page is deleted.
    const last = seen.at(-1)?.at(-1);
    await ask(`/api/v1/runs/${last}`, { method: 'DELETE' });
  }
  expect(seen.map((page) => page.length)).toEqual([2, 2, 2, 1]);
  expect(seen.flat()).toEqual(ids);
});

test('while two processes admit runs, paging returns each earlier run once, in order', async () => {
  const other = await fixture.start();
  const { ask, run, key, flowId } = await newTenant();
  const earlier = await Promise.all(Array.from({ length: 20 }, () => run()));
  const before = await ask('/api/v1/runs?limit=200');
  const arriving = Promise.all(
    Array.from({ length: 60 }, (_, i) => trigger(i % 2 ? ask : caller(other, key), flowId)),
  );
  const seen = await turnPages(ask, '/api/v1/runs?limit=3');
  await arriving;
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((runId) => earlier.includes(runId))).toEqual(idsOf(before));
});

test('lists runs created at the same time once each', async () => {
  const { ask, run } = await newTenant();
  const ids = await Promise.all(Array.from({ length: 6 }, () => run()));
  for (const runId of ids) await set(runId, 'created_at', '2026-05-01T00:00:00.123Z');
  expect(await turnPages(ask, '/api/v1/runs?limit=1')).toEqual(ids.sort().reverse());
});

test('returns the requested number of runs, 50 by default, at most 200', async () => {
  const scenario: Scenario = await createScenario(fixture.database.pool, testSealer);
  const { key } = await fixture.stores.keys.create({
    ...{ projectId: scenario.projectId, name: 'ci', createdBy: 'ana', rateLimitRpm: 10_000 },
  });
  for (let i = 0; i < 51; i += 1) await scenario.run();
  const ask = caller(api, key);
  const first = await ask('/api/v1/runs');
  expect(idsOf(first)).toHaveLength(50);
  expect(idsOf(await ask(nextOf(first) ?? ''))).toHaveLength(1);
  const exact = await ask('/api/v1/runs?limit=51');
  expect([idsOf(exact).length, nextOf(exact)]).toEqual([51, null]);
  expect((await ask('/api/v1/runs?limit=200')).status).toBe(200);
  expect((await ask('/api/v1/runs?limit=201')).status).toBe(400);
});

test('ends a page early if its results are too long, and loses none', async () => {
  const { ask, run } = await newTenant();
  const ids = [await run(), await run(), await run(), await run()].reverse();
  for (const runId of ids) await set(runId, 'result', 'x'.repeat(limits.page.runsMaxBytes / 2));
  const first = await ask('/api/v1/runs');
  const second = await ask(nextOf(first) ?? '');
  expect([idsOf(first), idsOf(second)]).toEqual([ids.slice(0, 2), ids.slice(2)]);
  expect(nextOf(second)).toBeNull();
});
