import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { usdOf } from '../../../../core/metering/call-cost.ts';
import type { BudgetOwner } from '../../../../core/metering/monthly-budget.ts';
import type { Run } from '../../../../core/runs/run.ts';
import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore } from '../../../../systems/postgres/accounts/key-store.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { openRunMeter } from '../../../../worker/metering/run-meter.ts';
import { testSealer } from '../../../support/database.ts';
import { setDatabaseClock } from './clock.ts';
import { costNanos, ledgerEntry } from './ledger-entry.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
/** A fixed month, so that no test sees the sums of two. */
const today = '2026-11-15T12:00:00.000Z';
beforeEach(() => setDatabaseClock(database.pool, today));
const ledger = () => createLedgerStore(database.pool);
const admit = (overrides = {}) =>
  createAdmission(database.pool, testSealer).admitRun(scenario.request(overrides));
const send = (runId: string) =>
  createMessageStore(database.pool).store({
    ...{ runId, messageId: randomUUID(), clientMessageId: null, text: 'Hello.' },
  });
const key = () =>
  createKeyStore(database.pool).create({
    ...{ projectId: scenario.projectId, name: 'ci', createdBy: 'ana' },
  });
const set = (patch: { monthlyBudgetUsd?: number | null; monthlyRunQuota?: number }) =>
  createProjectStore(database.pool, testSealer).update(scenario.projectId, patch);

/** The total cost of the calls that a test records in this month. */
const cost = usdOf(costNanos);
const now = () => ledgerEntry({ endedAt: new Date(today) });
const reached = (limit: number, current: number, budget: BudgetOwner = 'project') => ({
  ...{ outcome: 'rejected', reason: 'BUDGET_REACHED', limit, current, budget },
});

test('runs and messages are rejected from the moment the budget is reached', async () => {
  const budget = usdOf(2 * costNanos);
  await set({ monthlyBudgetUsd: budget });
  const session = await scenario.session();
  const { runId } = await scenario.run();
  expect(await ledger().record(runId, [now()])).toMatchObject({ reachedBudget: 'none' });
  expect(await send(session.runId)).toMatchObject({ outcome: 'stored' });
  expect(await admit()).toMatchObject({ outcome: 'admitted' });
  expect(await ledger().record(runId, [now()])).toMatchObject({ reachedBudget: 'project' });
  for (const triggerType of ['api', 'dashboard', 'schedule'])
    expect(await admit({ triggerType })).toEqual(reached(budget, budget));
  expect(await send(session.runId)).toEqual(reached(budget, budget));
  await set({ monthlyBudgetUsd: usdOf(2 * costNanos + 1_000) });
  expect(await admit()).toMatchObject({ outcome: 'admitted' });
  expect(await send(session.runId)).toMatchObject({ outcome: 'stored' });
});

/** Sets the budget of a flow or of a key. */
async function budgetOf(owner: 'flow' | 'key', id: string, monthlyBudgetUsd: number | null) {
  if (owner === 'key') await createKeyStore(database.pool).update(id, { monthlyBudgetUsd });
  else await createFlowStore(database.pool, testSealer).change(id, () => ({ monthlyBudgetUsd }));
}

test.each(['flow', 'key'] as const)('the budget of a %s limits its runs only', async (owner) => {
  const { keyId } = (await key()).record;
  const another = (await key()).record;
  const { projectId } = scenario;
  const flow = await createFlowStore(database.pool, testSealer).create({ projectId, name: 'B' });
  const { runId } = await scenario.run({ keyId });
  await ledger().record(runId, [now()]);
  const other = owner === 'key' ? { keyId: another.keyId } : { flowId: flow.flowId, keyId };
  const ofOther = await scenario.run(other);
  await ledger().record(ofOther.runId, [now(), now()]);

  const id = owner === 'key' ? keyId : scenario.flow.flowId;
  await budgetOf(owner, id, usdOf(costNanos + 1_000));
  expect(await admit({ keyId })).toMatchObject({ outcome: 'admitted' });
  expect(await ledger().record(runId, [])).toMatchObject({ reachedBudget: 'none' });
  await budgetOf(owner, id, cost);
  expect(await admit({ keyId })).toEqual(reached(cost, cost, owner));
  expect(await ledger().record(runId, [])).toMatchObject({ reachedBudget: owner });
  expect(await admit(other)).toMatchObject({ outcome: 'admitted' });
  expect(await ledger().record(ofOther.runId, [])).toMatchObject({ reachedBudget: null });
  await budgetOf(owner, id, null);
  expect(await admit({ keyId })).toMatchObject({ outcome: 'admitted' });
});

test('a message counts for the flow and the key of its session', async () => {
  const { keyId } = (await key()).record;
  const session = await scenario.session({ keyId });
  await ledger().record(session.runId, [now()]);
  const { flowId } = scenario.flow;
  await budgetOf('flow', flowId, cost);
  expect(await send(session.runId)).toEqual(reached(cost, cost, 'flow'));
  await budgetOf('flow', flowId, null);
  await budgetOf('key', keyId, cost);
  expect(await send(session.runId)).toEqual(reached(cost, cost, 'key'));
  await budgetOf('key', keyId, null);
  expect(await send(session.runId)).toMatchObject({ outcome: 'stored' });
});

test('of several reached budgets, that of the project is named, then that of the flow', async () => {
  const { keyId } = (await key()).record;
  const { runId } = await scenario.run({ keyId });
  await set({ monthlyBudgetUsd: 0 });
  await budgetOf('flow', scenario.flow.flowId, 0);
  await budgetOf('key', keyId, 0);
  expect(await admit({ keyId })).toEqual(reached(0, 0));
  expect(await ledger().record(runId, [])).toMatchObject({ reachedBudget: 'project' });
  await set({ monthlyBudgetUsd: 1 });
  expect(await admit({ keyId })).toEqual(reached(0, 0, 'flow'));
  expect(await ledger().record(runId, [])).toMatchObject({ reachedBudget: 'flow' });
  await budgetOf('flow', scenario.flow.flowId, null);
  expect(await admit({ keyId })).toEqual(reached(0, 0, 'key'));
});

test('a budget of 0 permits nothing, and without one nothing is limited', async () => {
  await set({ monthlyBudgetUsd: 0 });
  expect(await admit()).toEqual(reached(0, 0));
  await set({ monthlyBudgetUsd: null });
  const { runId } = await scenario.run();
  expect(await ledger().record(runId, [now()])).toMatchObject({ reachedBudget: null });
  expect(await admit()).toMatchObject({ outcome: 'admitted' });
});

test('a run over the quota and the budget is rejected with the quota, and counts for neither', async () => {
  await set({ monthlyBudgetUsd: 0, monthlyRunQuota: 0 });
  expect(await admit()).toMatchObject({ reason: 'MONTHLY_QUOTA' });
  await set({ monthlyRunQuota: 1 });
  expect(await admit()).toMatchObject({ reason: 'BUDGET_REACHED' });
  await set({ monthlyBudgetUsd: 1 });
  expect(await admit()).toMatchObject({ outcome: 'admitted' });
});

/** A meter like that of a sandbox, with the ledger of this test. */
async function meterOf({ runId, spending }: Run) {
  const root = await mkdtemp(join(tmpdir(), 'budget-'));
  const meter = await openRunMeter(
    {
      ...{ ledger: ledger(), modelPrices: {}, onModelCall: () => undefined },
      ...{ now: () => new Date(today), newId: randomUUID },
    },
    {
      ...{ runId, spending, root, logger: pino({ level: 'silent' }), isSession: false },
      ...{ model: null, maxTurns: null, maxBudgetUsd: null, allowedModels: [] },
      ...{ reachedBudget: 'none' as const, hasTreeBudget: false },
    },
  );
  onTestFinished(async () => {
    meter.close();
    await rm(root, { recursive: true });
  });
  return meter;
}

test('twenty runs at once exceed the budget by at most one call each', async () => {
  const runs = await Promise.all(Array.from({ length: 20 }, () => scenario.run()));
  const meters = await Promise.all(runs.map(meterOf));
  const usage = { input_tokens: 0, output_tokens: 100 };
  const answer = Buffer.from(JSON.stringify({ model: 'claude-opus-5-5', usage }));
  const perCall = 100 * 20_000;
  const affordable = 50;
  await set({ monthlyBudgetUsd: usdOf(affordable * perCall) });

  async function callUntilRefused(meter: (typeof meters)[number]): Promise<number> {
    for (let calls = 0; ; calls += 1) {
      const opened = await meter.open({
        ...{ endpoint: '/v1/messages', bytes: 10, answeringModel: 'claude-opus-5-5' },
        request: { model: 'claude-opus-5-5', maxTokens: 100, stream: false, fields: {} },
        countTokens: async () => null,
      });
      if (opened.outcome === 'refused') return calls;
      opened.call.answered(200, 'application/json');
      opened.call.read(answer);
      opened.call.end('answered');
    }
  }

  const calls = await Promise.all(meters.map(callUntilRefused));
  const all = calls.reduce((sum, each) => sum + each, 0);
  expect(all).toBeGreaterThanOrEqual(affordable);
  expect(all).toBeLessThan(affordable + runs.length);
  const exceeded = await Promise.all(meters.map((meter) => meter.exceeded));
  expect(new Set(exceeded)).toEqual(new Set(['monthly_budget_reached']));
});

test('calls of earlier months, of other projects and without a price do not count', async () => {
  const { pool } = database;
  await setDatabaseClock(pool, '2026-11-30T23:59:59.999Z');
  const { runId } = await scenario.run();
  await ledger().record(runId, [
    ledgerEntry({ endedAt: new Date('2026-11-30T23:59:59Z') }),
    ledgerEntry({ endedAt: new Date('2026-10-31T23:59:59Z') }),
    ledgerEntry({ endedAt: new Date('2026-11-01T00:00:00Z'), price: null, costNanos: null }),
  ]);
  await set({ monthlyBudgetUsd: cost });
  expect(await admit()).toEqual(reached(cost, cost));
  await setDatabaseClock(pool, '2026-12-01T00:00:00Z');
  expect(await admit()).toMatchObject({ outcome: 'admitted' });
});
