import { beforeAll, expect, test } from 'vitest';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();
let other: ApiProcess;

beforeAll(async () => {
  other = await fixture.start();
});

async function newRun(labels: Record<string, string>): Promise<{ runId: string; path: string }> {
  const body = { prompt: 'Go', labels };
  const { json } = await call(`/api/v1/flows/${tenant.flowId}/runs`, { body });
  return { runId: json.data.runId, path: `/api/v1/runs/${json.data.runId}` };
}

const patch = (path: string, body: unknown) =>
  call(`${path}/labels`, { method: 'PATCH', body: body ?? '' });

test('merges labels, removes null ones, and returns the run', async () => {
  const { path } = await newRun({ keep: '1', change: '2', drop: '3' });
  const labels = { change: 'zwei "\0', drop: null, absent: null, added: '' };
  const changed = await patch(path, { labels });
  expect(changed.status).toBe(200);
  expect(changed.json.data.labels).toEqual({ keep: '1', change: 'zwei "\0', added: '' });
  const read = (await call(path)).json.data;
  expect(read).toMatchObject(changed.json.data);
  const same = await patch(path, { labels: {} });
  expect([same.status, same.json.data.labels]).toEqual([200, read.labels]);
  const listed = await call('/api/v1/runs?label=added:');
  expect(listed.json.data).toEqual([changed.json.data]);
  expect((await call('/api/v1/runs?label=drop:3')).json.data).toEqual([]);
});

test('allows at most twenty labels, and otherwise changes nothing', async () => {
  const nineteen = Object.fromEntries(Array.from({ length: 19 }, (_, i) => [`k${i}`, 'v']));
  const { path } = await newRun(nineteen);
  expect((await patch(path, { labels: { k19: 'v' } })).status).toBe(200);
  const refused = await patch(path, { labels: { k0: 'other', k20: 'v' } });
  expect([refused.status, refused.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(refused.json.error.message).toContain('body.labels');
  expect((await call(path)).json.data.labels).toEqual({ ...nineteen, k19: 'v' });
  const swapped = await patch(path, { labels: { k0: null, k20: 'v' } });
  expect(Object.keys(swapped.json.data.labels)).toHaveLength(20);
  const all = Object.keys(swapped.json.data.labels);
  const removed = Object.fromEntries(all.map((key) => [key, null]));
  const fresh = Object.fromEntries(all.map((key) => [`${key}.new`, '😀'.repeat(256)]));
  const replaced = await patch(path, { labels: { ...removed, ...fresh } });
  expect([replaced.status, replaced.json.data?.labels]).toEqual([200, fresh]);
});

test.each([
  ['no labels', {}, 'body.labels'],
  ['an empty body', null, 'body.labels'],
  ['labels that are none', { labels: null }, 'body.labels'],
  ['a list', { labels: ['a'] }, 'body.labels'],
  ['an unknown field', { labels: {}, name: 'x' }, 'body.name: unknown field'],
  ['a key that begins with a dot', { labels: { '.a': 'x' } }, 'body.labels..a'],
  ['a bad key that is to be removed', { labels: { 'a b': null } }, 'body.labels.a b'],
  ['a key of 65', { labels: { ['k'.repeat(65)]: 'x' } }, 'body.labels.k'],
  ['a value of 257', { labels: { k: '😀'.repeat(257) } }, 'body.labels.k'],
  ['a number', { labels: { k: 1 } }, 'body.labels.k'],
])('rejects %s and changes nothing', async (_what, body, path) => {
  const run = await newRun({ k: 'v' });
  const refused = await patch(run.path, body);
  expect([refused.status, refused.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(refused.json.error.message).toContain(path);
  expect((await call(run.path)).json.data.labels).toEqual({ k: 'v' });
});

test('loses none of twenty concurrent changes on two processes', async () => {
  const { path } = await newRun({});
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      caller(i % 2 === 0 ? api : other, tenant.key)(`${path}/labels`, {
        method: 'PATCH',
        body: { labels: { [`k${i}`]: String(i) } },
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(Object.keys((await call(path)).json.data.labels)).toHaveLength(20);
});

test('changes labels of an ended run, but not of a deleted one', async () => {
  const { runId, path } = await newRun({ a: '1' });
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  const changed = await patch(path, { labels: { a: '2' } });
  expect(changed.json.data).toMatchObject({ status: 'sleep', labels: { a: '2' } });
  await call(path, { method: 'DELETE' });
  expect((await patch(path, { labels: { a: '3' } })).status).toBe(404);
});

test('a replay of the trigger returns the current labels', async () => {
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  const body = { prompt: 'Go', labels: { a: '1' }, idempotencyKey: 'labelled' };
  const { runId } = (await call(path, { body })).json.data;
  await patch(`/api/v1/runs/${runId}`, { labels: { a: '2' } });
  const replay = await call(path, { body });
  expect([replay.status, replay.json.data.labels]).toEqual([200, { a: '2' }]);
});
