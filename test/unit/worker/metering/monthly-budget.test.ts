import { expect, test } from 'vitest';
import type { ReachedBudget } from '../../../../core/metering/monthly-budget.ts';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import type { UnmeteredCall } from '../../../../worker/egress/model/call-meter.ts';
import { meteredRun } from './metered-run.ts';

const aCall: UnmeteredCall = {
  ...{ endpoint: '/v1/messages', bytes: 100, answeringModel: 'claude-opus-5-5' },
  request: { model: 'claude-opus-5-5', maxTokens: 10, stream: false, fields: {} },
  countTokens: async () => null,
};

type Run = Awaited<ReturnType<typeof meteredRun>>;

/** The status of the refusal; null if the call was made. It ends at once. */
async function call({ meter }: Run): Promise<number | null> {
  const opened = await meter.open(aCall);
  if (opened.outcome === 'refused') return opened.error.status;
  opened.call.answered(200, 'application/json');
  opened.call.end('answered');
  return null;
}

const isExceeded = (run: Run) =>
  Promise.race([run.meter.exceeded, Promise.resolve(null).then(() => null)]);

test('a run ends with the first call after the one with which the budget is reached', async () => {
  let reached: ReachedBudget = 'none';
  const run = await meteredRun({ reachedBudget: () => reached });
  expect(await call(run)).toBeNull();
  reached = 'project';
  expect(await call(run)).toBeNull();
  expect(await isExceeded(run)).toBeNull();
  expect(await call(run)).toBe(402);
  expect(await run.meter.exceeded).toBe('monthly_budget_reached');
});

test('a call waits until the ledger has the previous one', async () => {
  const recorded = createDeferred<true>();
  let reached: ReachedBudget = 'none';
  const onRecord = async () => void (await recorded.promise);
  const run = await meteredRun({ reachedBudget: () => reached, onRecord });
  expect(await call(run)).toBeNull();
  const next = call(run);
  reached = 'project';
  recorded.resolve(true);
  expect(await next).toBe(402);
});

test('a sandbox that starts after the budget is reached makes no call', async () => {
  const run = await meteredRun({ reachedBudget: () => 'project' });
  expect(await call(run)).toBe(402);
});

test.each([
  ['flow', 'monthly_flow_budget_reached'],
  ['key', 'monthly_key_budget_reached'],
] as const)('a run ends because of the budget of its %s', async (owner, limit) => {
  const run = await meteredRun({ reachedBudget: () => owner });
  expect(await run.meter.open(aCall)).toMatchObject({
    error: { status: 402, message: `The ${owner}'s monthly budget is reached.` },
  });
  expect(await run.meter.exceeded).toBe(limit);
});

test('a run of a tree with a budget reads before each call what the others have spent', async () => {
  let reached: ReachedBudget = 'none';
  const run = await meteredRun({ reachedBudget: () => reached, hasTreeBudget: true });
  expect(await call(run)).toBeNull();
  reached = 'tree';
  expect(await run.meter.open(aCall)).toMatchObject({
    error: { status: 402, message: 'The budget of the run tree is reached.' },
  });
  expect(await run.meter.exceeded).toBe('tree_budget_reached');
});

test('a session continues once its project has a budget again', async () => {
  let reached: ReachedBudget = 'project';
  const run = await meteredRun({ reachedBudget: () => reached, isSession: true });
  expect(await call(run)).toBe(402);
  expect(await isExceeded(run)).toBeNull();
  reached = 'none';
  expect(await call(run)).toBeNull();
});

test('without a budget nothing is read before a call, and no call waits for the ledger', async () => {
  const recorded = createDeferred<true>();
  const run = await meteredRun({ onRecord: async () => void (await recorded.promise) });
  expect(await call(run)).toBeNull();
  expect(await call(run)).toBeNull();
  expect(run.recorded).toEqual([]);
  recorded.resolve(true);
});
