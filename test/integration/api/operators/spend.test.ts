import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dayOf } from '../../../../core/agent/usage.ts';
import { usdOf } from '../../../../core/metering/call-cost.ts';
import type { LedgerEntry } from '../../../../core/metering/ledger-entry.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import type { Tenant } from '../../../support/api-fixture.ts';
import { costNanos, ledgerEntry } from '../../systems/postgres/ledger-entry.ts';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();
const cost = usdOf(costNanos);
const november = 'from=2026-11-01&to=2026-11-30';
const unpriced = { price: null, costNanos: null };
let operator: OperatorClient;
let tenant: Tenant;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});
beforeEach(async () => {
  tenant = await fixture.tenant({ maxConcurrentRuns: 100 });
});

const spend = (query: string) => operator(`/api/projects/${tenant.projectId}/spend?${query}`);

async function groupsOf(query: string): Promise<Record<string, unknown>[]> {
  const { json, text } = await spend(`${november}&${query}`);
  expect(json.data, text).toBeDefined();
  return json.data.groups;
}

/** A run with one model call for each of these. */
async function run(calls: Partial<LedgerEntry>[], labels: Record<string, string> = {}) {
  const body = { prompt: 'Go', labels };
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  const { json } = await caller(api, tenant.key)(path, { body });
  await record(json.data.runId, calls);
  return json.data.runId as string;
}

const record = (runId: string, calls: Partial<LedgerEntry>[]) =>
  createLedgerStore(fixture.database.pool).record(runId, calls.map(ledgerEntry));

const on = (day: string) => ({ endedAt: new Date(`${day}T12:00:00Z`) });

describe('the spend of a project', () => {
  test('is listed by day, flow, key and model, with the total', async () => {
    await run([on('2026-11-03'), { ...on('2026-11-02'), model: 'a' }]);
    const path = `/api/projects/${tenant.projectId}/flows/${tenant.flowId}/runs`;
    const started = await operator(path, { body: { prompt: 'Go' } });
    await record(started.json.data.runId, [on('2026-11-03')]);
    const sums = (calls: number) => ({
      ...{ calls, unpricedCalls: 0, inputTokens: 100 * calls, outputTokens: 10 * calls },
      ...{ cacheReadInputTokens: 50 * calls, cacheCreationInputTokens: 7 * calls },
      costUsd: expect.closeTo(calls * cost, 6),
    });
    const { data } = (await spend(november)).json;
    expect(data).toEqual({
      ...{ by: 'day', from: '2026-11-01', to: '2026-11-30', total: sums(3) },
      groups: [
        { group: '2026-11-02', name: null, ...sums(1) },
        { group: '2026-11-03', name: null, ...sums(2) },
      ],
    });
    expect(await groupsOf('by=flow')).toEqual([
      { group: tenant.flowId, name: 'A flow', ...sums(3) },
    ]);
    expect(await groupsOf('by=key')).toEqual([
      { group: tenant.keyId, name: expect.any(String), ...sums(2) },
      { group: null, name: null, ...sums(1) },
    ]);
    expect(await groupsOf('by=model')).toEqual([
      { group: 'claude-opus-5-5', name: null, ...sums(2) },
      { group: 'a', name: null, ...sums(1) },
    ]);
  });

  test('by label uses the labels at admission, and shows runs without the label', async () => {
    const odd = '"quoted" \\ \0 ü, =1\n';
    await run([{}, {}], { team: odd, order: '1' });
    const changed = await run([], { team: 'red' });
    const path = `/api/v1/runs/${changed}/labels`;
    await caller(api, tenant.key)(path, { method: 'PATCH', body: { labels: { team: 'blue' } } });
    await record(changed, [{}]);
    await run([{}, {}, {}], { order: '2' });
    expect(await groupsOf('by=label&label=team')).toMatchObject([
      { group: null, calls: 3 },
      { group: odd, calls: 2 },
      { group: 'red', calls: 1 },
    ]);
    expect(await groupsOf('by=label&label=nothing')).toMatchObject([{ group: null, calls: 6 }]);
    const { data } = (await spend(`${november}&by=label&label=order`)).json;
    expect(data).toMatchObject({ label: 'order', total: { calls: 6 } });
    expect(data.groups).toMatchObject([
      { group: '2', calls: 3 },
      { group: '1', calls: 2 },
      { group: null, calls: 1 },
    ]);
  });

  test('is null if no price is known, and counts the calls without a price', async () => {
    await run([{ model: 'known' }, { model: 'half' }]);
    await run([
      { model: 'half', ...unpriced },
      { model: 'unknown', ...unpriced },
    ]);
    expect(await groupsOf('by=model')).toMatchObject([
      { group: 'half', calls: 2, unpricedCalls: 1, costUsd: cost },
      { group: 'known', calls: 1, unpricedCalls: 0, costUsd: cost },
      { group: 'unknown', calls: 1, unpricedCalls: 1, costUsd: null },
    ]);
    const { total } = (await spend(november)).json.data;
    expect(total).toMatchObject({ calls: 4, unpricedCalls: 2, costUsd: 2 * cost });
  });

  test('covers this month by default, and 0 dollars without a call', async () => {
    const before = dayOf(new Date());
    const { data } = (await spend('')).json;
    expect([before, dayOf(new Date())]).toContain(data.to);
    expect(data).toMatchObject({ from: `${data.to.slice(0, 7)}-01`, groups: [] });
    expect(data.total).toMatchObject({ calls: 0, costUsd: 0 });
    await run([{ endedAt: new Date('2026-01-31T23:59:59Z') }]);
    expect((await spend('to=2026-01-31')).json.data).toMatchObject({
      ...{ from: '2026-01-01', total: { calls: 1 } },
    });
    expect((await spend('from=2026-02-01')).json.data.total.calls).toBe(0);
    expect((await spend('from=2026-01-01&to=2026-01-30')).json.data.total.calls).toBe(0);
  });

  test('of other projects is not included', async () => {
    await run([{}], { team: 'red' });
    tenant = await fixture.tenant();
    expect(await groupsOf('by=model')).toEqual([]);
    expect(await groupsOf('by=label&label=team')).toEqual([]);
  });
});

test('pages have each group once, the highest cost first', async () => {
  const labels = Array.from({ length: 5 }, (_, n) => ({ n: String(n) }));
  for (const [at, each] of labels.entries()) await run(at % 2 === 0 ? [{}] : [{}, {}], each);
  await run([{}]);
  const all = await groupsOf('by=label&label=n');
  expect(all.map(({ group }) => group)).toEqual(['1', '3', '0', '2', '4', null]);
  const pages: unknown[] = [];
  const path = `/api/projects/${tenant.projectId}/spend?${november}&by=label&label=n&limit=2`;
  for (let url: string | undefined = path; url !== undefined; ) {
    const { json, headers } = await operator(url);
    expect(json.data.total.calls).toBe(8);
    pages.push(json.data.groups);
    url = /<https?:\/\/[^/>]+([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  expect(pages).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
});

describe('CSV', () => {
  const head =
    'name,calls,unpricedCalls,inputTokens,outputTokens,cacheReadInputTokens,cacheCreationInputTokens,costUsd';

  test('has all groups, and is also sent if only it is accepted', async () => {
    await run([{ model: 'b' }, { model: 'a', ...unpriced }]);
    const answer = await spend(`${november}&by=model&format=csv`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toContain(
      '-by-model-2026-11-01-2026-11-30.csv',
    );
    const rows = [`model,${head}`, '"a",,1,1,100,10,50,7,', `"b",,1,0,100,10,50,7,${cost}`];
    expect(answer.text).toBe(rows.map((row) => `${row}\r\n`).join(''));
    const path = `/api/projects/${tenant.projectId}/spend?${november}&by=model`;
    const accepted = await operator(path, { headers: { accept: 'text/csv' } });
    expect(accepted.text).toBe(answer.text);
    const either = await operator(path, { headers: { accept: 'application/json, text/csv' } });
    expect(either.json.data.groups).toHaveLength(2);
  });

  test('contains no cell that a spreadsheet would calculate', async () => {
    for (const team of ['=1+1', '+1', '-1', '@a', '\t=1', 'a"b,c\nd']) await run([{}], { team });
    const { text } = await spend(`${november}&by=label&label=team&format=csv`);
    const cells = text
      .split('\r\n')
      .slice(1, -1)
      .map((row) => row.replace(/,,1,0,.*$/s, ''));
    expect(cells).toEqual([`"'+1"`, `"'-1"`, `"'=1+1"`, `"'@a"`, `"'\t=1"`, '"a""b,c\nd"']);
  });
});

describe('a request that is invalid', () => {
  test.each([
    ['by=week', 'by'],
    ['by=label', 'label'],
    ['by=label&label=', 'label'],
    ['by=label&label=a b', 'label'],
    ['by=flow&label=team', 'label'],
    ['from=2026-11-31', 'from'],
    ['from=0000-01-01', 'from'],
    ['from=2026-11-01T00:00:00Z', 'from'],
    ['to=now', 'to'],
    ['from=2026-11-02&to=2026-11-01', 'from'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['cursor=x', 'cursor'],
    ['cursor=1.5', 'cursor'],
    ['cursor=1_a%00', 'cursor'],
    ['format=xml', 'format'],
    ['format=csv&limit=2', 'limit'],
    ['unknown=1', 'unknown'],
  ])('gets 400: %s', async (query, field) => {
    const { status, json } = await spend(query);
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(json.error.message).toContain(field);
  });

  test.each(['from=0001-01-01&to=9999-12-31', 'from=2026-11-01&to=2026-11-01', 'limit=200'])(
    'gets an answer at the limit: %s',
    async (query) => {
      expect((await spend(query)).status).toBe(200);
    },
  );

  test('gets 404 for another project', async () => {
    expect((await operator('/api/projects/nothing/spend')).status).toBe(404);
  });
});
