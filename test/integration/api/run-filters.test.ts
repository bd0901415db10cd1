import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { idsOf, newLister, setColumn, trigger, turnPages } from './lister.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

const newTenant = () => newLister(fixture, api);
const set = (...given: Parameters<ReturnType<typeof setColumn>>) => setColumn(fixture)(...given);

test('filters by flow, status, agent status, trigger type and session, each and all together', async () => {
  const { ask, run, projectId } = await newTenant();
  const { flowId } = await fixture.stores.flows.create({ projectId, name: 'Another' });
  const [plain, ended, atWork, chat, scheduled] = [
    await run(),
    await run(),
    await run(),
    await run(),
    await run(),
  ];
  const inOtherFlow = await trigger(ask, flowId);
  await fixture.stores.runs.endRun({ runId: ended, cause: 'completed', detail: null, exitCode: 0 });
  await set(atWork, 'agent_status', 'working');
  await set(chat, 'session_id', 'support:4711');
  await set(chat, 'holds_slot', true);
  await set(scheduled, 'trigger_type', 'schedule');
  const found = async (query: string) => idsOf(await ask(`/api/v1/runs?${query}`));

  expect(await found(`flowId=${flowId}`)).toEqual([inOtherFlow]);
  expect(await found('status=sleep')).toEqual([ended]);
  expect(await found('status=running')).toEqual([inOtherFlow, scheduled, chat, atWork, plain]);
  expect(await found('agentStatus=working')).toEqual([atWork]);
  expect(await found('agentStatus=waiting')).toEqual([]);
  expect(await found('triggerType=schedule')).toEqual([scheduled]);
  expect(await found('sessionId=support:4711')).toEqual([chat]);
  expect(await found('sessionId=support')).toEqual([]);
  expect(await found('status=running&agentStatus=working&triggerType=api')).toEqual([atWork]);
  expect(await found('status=sleep&agentStatus=working')).toEqual([]);
  // A flow of another project is no error: the list has none of its runs.
  const foreign = await newTenant();
  await foreign.run();
  expect(await found(`flowId=${foreign.flowId}`)).toEqual([]);
});

test('filters by exact labels with any characters', async () => {
  const { ask, run } = await newTenant();
  const values = [
    '',
    'core',
    'a:b',
    'a","x":"y',
    '\\',
    '"',
    '\0',
    '€ 😀',
    'ü\n\t',
    "'; --",
    '%',
    '\ud800',
  ];
  const all = new Map<string, string>();
  for (const value of values) all.set(value, await run({ labels: { team: value, n: '1' } }));
  const without = await run({ labels: { x: 'team":"core' } });
  const found = async (...labels: string[]) => {
    const query = labels.map((label) => `label=${encodeURIComponent(label)}`).join('&');
    return idsOf(await ask(`/api/v1/runs?${query}`));
  };
  for (const [value, runId] of all) {
    if (value !== '\ud800') expect(await found(`team:${value}`), value).toEqual([runId]);
  }
  expect(await found('n:1')).toHaveLength(values.length);
  expect(await found('n:1', 'team:core')).toEqual([all.get('core')]);
  expect(await found('team:core', 'team:a:b')).toEqual([]);
  expect(await found('x:y')).toEqual([]);
  expect(await found('x:team":"core')).toEqual([without]);
  expect(await found('team:Core')).toEqual([]);
  expect(await found('eam:core')).toEqual([]);
});

test('filters by creation time: the start is inclusive, the end exclusive', async () => {
  const { ask, run } = await newTenant();
  const [early, late] = [await run(), await run()];
  await set(early, 'created_at', '2026-05-01T00:00:00.000Z');
  await set(late, 'created_at', '2026-05-02T00:00:00.000Z');
  const found = async (query: string) => idsOf(await ask(`/api/v1/runs?${query}`));
  expect(await found('createdAfter=2026-05-01T00:00:00.000Z')).toEqual([late, early]);
  expect(await found('createdAfter=2026-05-01T00:00:00.001Z')).toEqual([late]);
  expect(await found('createdBefore=2026-05-02T00:00:00Z')).toEqual([early]);
  expect(await found('createdBefore=2026-05-02T00:00:00.001Z')).toEqual([late, early]);
  expect(await found('createdAfter=2026-05-02T02:00:00%2B02:00')).toEqual([late]);
  const day = 'createdAfter=2026-05-01T00:00:00Z&createdBefore=2026-05-02T00:00:00Z';
  expect(await found(day)).toEqual([early]);
  for (const edge of ['0000-01-01T00:00:00%2B23:59', '9999-12-31T23:59:59.999999-23:59']) {
    expect((await ask(`/api/v1/runs?createdAfter=${edge}`)).status, edge).toBe(200);
    expect((await ask(`/api/v1/runs?createdBefore=${edge}`)).status, edge).toBe(200);
  }
});

test('keeps its filters from page to page', async () => {
  const { ask, run } = await newTenant();
  const expected: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    expected.unshift(await run({ labels: { a: '&=#é ', b: 'x:y' } }));
    await run({ labels: { a: '&=#é ' } });
  }
  const query = new URLSearchParams([
    ['label', 'a:&=#é '],
    ['label', 'b:x:y'],
    ['status', 'running'],
    ['createdAfter', '2026-01-01T00:00:00+01:00'],
    ['limit', '1'],
  ]);
  expect(await turnPages(ask, `/api/v1/runs?${query.toString()}`)).toEqual(expected);
  query.set('createdAfter', '0000-01-01T00:00:00+23:59');
  query.set('createdBefore', '9999-12-31T23:59:59-23:59');
  expect(await turnPages(ask, `/api/v1/runs?${query.toString()}`)).toEqual(expected);
});

test.each([
  ['page=2'],
  ['status=ended'],
  ['status=running&status=sleep'],
  ['agentStatus='],
  ['triggerType=cron'],
  ['flowId=x'],
  ['flowId='],
  ['sessionId=a%00b'],
  [`sessionId=${'s'.repeat(129)}`],
  ['label=team'],
  ['label='],
  ['label=:x'],
  [`label=${'k'.repeat(65)}:x`],
  [Array.from({ length: 21 }, (_, i) => `label=k${i}:v`).join('&')],
  ['createdAfter=yesterday'],
  ['createdAfter=2026-02-30T00:00:00Z'],
  ['createdAfter=2026-02-01'],
  ['createdBefore=2026-02-01T00:00:00'],
  ['cursor=nonsense'],
  ['cursor='],
  [`cursor=${randomUUID()}`],
  [`cursor=1_${randomUUID()}_`],
  [`cursor=1234567890123456_${randomUUID()}`],
  ['cursor=1769904000000_x'],
])('rejects %s with 400', async (query) => {
  const { ask } = await newTenant();
  const answer = await ask(`/api/v1/runs?${query}`);
  expect([answer.status, answer.json.error.code], answer.text).toEqual([400, 'VALIDATION_ERROR']);
  const [name = ''] = query.split('=');
  expect(answer.json.error.message).toContain(`query.${name}`);
});

test('accepts twenty labels at once, and the longest session id', async () => {
  const labels = Array.from({ length: 20 }, (_, i) => `label=k${i}:v`).join('&');
  const { ask } = await newTenant();
  expect((await ask(`/api/v1/runs?${labels}&sessionId=${'s'.repeat(128)}`)).status).toBe(200);
});
