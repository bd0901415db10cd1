import { expect, test } from 'vitest';
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
  let isReached = false;
  const run = await meteredRun({ isMonthlyBudgetReached: () => isReached });
  expect(await call(run)).toBeNull();
  isReached = true;
  expect(await call(run)).toBeNull();
  expect(await isExceeded(run)).toBeNull();
  expect(await call(run)).toBe(402);
  expect(await run.meter.exceeded).toBe('monthly_budget_reached');
});

test('a call waits until the ledger has the previous one', async () => {
  const recorded = createDeferred<true>();
  let isReached = false;
  const onRecord = async () => void (await recorded.promise);
  const run = await meteredRun({ isMonthlyBudgetReached: () => isReached, onRecord });
  expect(await call(run)).toBeNull();
  const next = call(run);
  isReached = true;
  recorded.resolve(true);
  expect(await next).toBe(402);
});

test('a sandbox that starts after the budget is reached makes no call', async () => {
  const run = await meteredRun({ isMonthlyBudgetReached: () => true });
  expect(await call(run)).toBe(402);
});

test('a session continues once its project has a budget again', async () => {
  let isReached = true;
  const run = await meteredRun({ isMonthlyBudgetReached: () => isReached, isSession: true });
  expect(await call(run)).toBe(402);
  expect(await isExceeded(run)).toBeNull();
  isReached = false;
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
