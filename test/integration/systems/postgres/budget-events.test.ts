// The event `budget.reached`, once for each threshold of a monthly budget.

import { beforeEach, expect, test } from 'vitest';
import { webhookBodies } from '../../../../api/openapi/webhook-bodies.ts';
import { usdOf } from '../../../../core/metering/call-cost.ts';
import type { BudgetOwner } from '../../../../core/metering/monthly-budget.ts';
import { createAuditLog } from '../../../../systems/postgres/accounts/audit-log.ts';
import { createKeyStore } from '../../../../systems/postgres/accounts/key-store.ts';
import { createFleetStore } from '../../../../systems/postgres/hosts/fleet-store.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import { testSealer } from '../../../support/database.ts';
import { addEndpoint } from '../../../support/endpoints.ts';
import { setDatabaseClock } from './clock.ts';
import { costNanos, ledgerEntry } from './ledger-entry.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);
const today = '2026-11-15T12:00:00.000Z';
let keyId: string;
beforeEach(async () => {
  const { pool } = database;
  await setDatabaseClock(pool, today);
  const { projectId } = scenario;
  const key = { projectId, name: 'ci', createdBy: 'ana' };
  keyId = (await createKeyStore(pool).create(key)).record.keyId;
  const url = 'https://hooks.example/events';
  await addEndpoint(pool, { projectId, url, eventTypes: ['budget.reached'] });
});

/** The cost of so many calls. */
const costOf = (calls: number): number => usdOf(calls * costNanos);

async function call(runId: string, calls = 1, pool = database.pool): Promise<void> {
  const entries = Array.from({ length: calls }, () => ledgerEntry({ endedAt: new Date(today) }));
  await createLedgerStore(pool).record(runId, entries);
}

/** Sets a budget, as the API and the command line do. */
async function set(owner: BudgetOwner, monthlyBudgetUsd: number | null, pool = database.pool) {
  const withoutOperator = { operatorId: null, operator: null, tokenId: null, requestId: null };
  const actor = { source: 'command_line' as const, address: 'test', ...withoutOperator };
  await createAuditLog(pool, testSealer).changeAs(actor, async (on) => {
    if (owner === 'project') await on.changeSettings(scenario.projectId, { monthlyBudgetUsd });
    if (owner === 'flow') await on.changeFlow(scenario.flow.flowId, () => ({ monthlyBudgetUsd }));
    if (owner === 'key') await on.changeKey(keyId, { monthlyBudgetUsd });
  });
}

async function bodies(): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query<{ body: string }>(
    `select body from webhook_events where project_id = $1 and event = 'budget.reached'`,
    [scenario.projectId],
  );
  const found = rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  for (const body of found) expect(webhookBodies['budget.reached'].parse(body)).toEqual(body);
  return found;
}

/** What was reported so far, such as `project 80`. */
const reported = async (): Promise<string[]> =>
  (await bodies()).map(({ budget, percent }) => `${String(budget)} ${String(percent)}`).sort();

test.each(['project', 'flow', 'key'] as const)(
  'the budget of a %s is reported at 80 and at 100 percent, and neither before nor again',
  async (owner) => {
    await set(owner, costOf(100));
    const { runId } = await scenario.run({ keyId });
    const other = await scenario.run({ keyId });
    const expected: [calls: number, reported: string[]][] = [
      [79, []],
      [1, [`${owner} 80`]],
      [19, [`${owner} 80`]],
      [1, [`${owner} 100`, `${owner} 80`]],
      [50, [`${owner} 100`, `${owner} 80`]],
    ];
    for (const [at, [calls, events]] of expected.entries()) {
      await call(at % 2 === 0 ? runId : other.runId, calls);
      expect(await reported()).toEqual(events);
    }
    const limitUsd = costOf(100);
    expect((await bodies()).find(({ percent }) => percent === 80)).toEqual({
      ...{ projectId: scenario.projectId, occurredAt: today, budget: owner, month: '2026-11' },
      ...(owner === 'flow' && { flowId: scenario.flow.flowId }),
      ...(owner === 'key' && { keyId }),
      ...{ percent: 80, limitUsd, currentUsd: costOf(80) },
    });
  },
);

test('metrics count the budgets that are spent, until they are raised or removed', async () => {
  const spent = async () => (await createFleetStore(database.pool, 1_000).count()).spentBudgets;
  const before = await spent();
  const { runId } = await scenario.run({ keyId });
  for (const owner of ['project', 'flow', 'key'] as const) await set(owner, costOf(10));
  await call(runId, 8);
  expect(await spent()).toEqual({ 80: before[80] + 3, 100: before[100] });
  await call(runId, 2);
  expect(await spent()).toEqual({ 80: before[80] + 3, 100: before[100] + 3 });
  await set('flow', costOf(12)); // 83 percent
  await set('key', costOf(20));
  expect(await spent()).toEqual({ 80: before[80] + 2, 100: before[100] + 1 });
  await set('project', null);
  expect(await spent()).toEqual({ 80: before[80] + 1, 100: before[100] });
});

const all = ['flow 100', 'flow 80', 'key 100', 'key 80', 'project 100', 'project 80'];

/** The models differ, so that the calls do not wait for each other's sums of the day. */
test('calls of many runs at once report each threshold once, with the last of them', async () => {
  const { pool } = database;
  const runs = await Promise.all(Array.from({ length: 20 }, () => scenario.run({ keyId })));
  for (const owner of ['project', 'flow', 'key'] as const) await set(owner, costOf(40));
  const record = ({ runId }: { runId: string }, at: number) => {
    const entry = ledgerEntry({ endedAt: new Date(today), model: `m-${at}` });
    return createLedgerStore(at % 2 === 0 ? pool : second()).record(runId, [entry]);
  };
  await call(runs[0]?.runId ?? '', 11);
  await Promise.all(runs.map(record));
  expect(await reported()).toEqual([]);
  await Promise.all(runs.slice(0, 9).map(record));
  expect(await reported()).toEqual(all);
});

test('a call that passes both thresholds of all budgets reports all of them', async () => {
  for (const owner of ['project', 'flow', 'key'] as const) await set(owner, costOf(1));
  await call((await scenario.run({ keyId })).runId);
  expect(await reported()).toEqual(all);
});

test('a raised budget is reported again only once calls pass its own threshold', async () => {
  const { runId } = await scenario.run({ keyId });
  await set('flow', costOf(100));
  await call(runId, 85);
  expect(await reported()).toEqual(['flow 80']);
  await set('flow', costOf(101)); // 84 percent
  await call(runId);
  expect(await reported()).toEqual(['flow 80']);
  await set('flow', costOf(200)); // 43 percent
  await set('flow', costOf(100));
  expect(await reported()).toEqual(['flow 80']);
  await set('flow', costOf(200));
  await call(runId, 74);
  expect(await reported()).toEqual(['flow 80', 'flow 80']);
  expect((await bodies()).map(({ limitUsd }) => limitUsd)).toEqual(
    expect.arrayContaining([costOf(100), costOf(200)]),
  );
});

test('a budget that is set below the spend is reported once, also by changes at once', async () => {
  const { runId } = await scenario.run({ keyId });
  await call(runId, 85);
  for (const owner of ['project', 'flow', 'key'] as const) {
    const lower = (_: unknown, at: number) =>
      set(owner, costOf(100 - at), at % 2 === 0 ? database.pool : second());
    await Promise.all(Array.from({ length: 10 }, lower));
  }
  expect(await reported()).toEqual(['flow 80', 'key 80', 'project 80']);
  await set('key', 0);
  await set('key', null);
  await set('key', costOf(85));
  expect(await reported()).toEqual(['flow 80', 'key 100', 'key 80', 'project 80']);
});

test('a month begins without reports, and calls without a price are not spend', async () => {
  await set('project', costOf(1));
  const { runId } = await scenario.run({ keyId });
  const unpriced = ledgerEntry({ endedAt: new Date(today), price: null, costNanos: null });
  await createLedgerStore(database.pool).record(runId, [unpriced]);
  expect(await reported()).toEqual([]);
  await call(runId);
  const both = ['project 100', 'project 80'];
  expect(await reported()).toEqual(both);
  await setDatabaseClock(database.pool, '2026-12-01T00:00:00Z');
  await call(runId); // of the previous month
  expect(await reported()).toEqual(both);
  const endedAt = new Date('2026-12-01T00:00:00Z');
  await createLedgerStore(database.pool).record(runId, [ledgerEntry({ endedAt })]);
  expect(await reported()).toEqual([...both, ...both].sort());
});
