import { describe, expect, test } from 'vitest';
import type { UnmeteredCall } from '../../../../worker/egress/model/call-meter.ts';
import { meteredRun } from './metered-run.ts';

/** In nano-dollars per token, of claude-opus-5-5. */
const rates = { written: 5_000, output: 20_000 };
const bytes = 1_000;
const maxTokens = 100;
/** The most that the call below can cost. */
const most = bytes * rates.written + maxTokens * rates.output;
const usd = (nanos: number): number => nanos / 1e9;

type Run = Awaited<ReturnType<typeof meteredRun>>;

interface CallFields {
  model?: string;
  maxTokens?: number | null;
  fields?: object;
  counted?: number | null;
}

function callOf({ counted = null, fields = {}, ...request }: CallFields): UnmeteredCall {
  return {
    endpoint: '/v1/messages',
    bytes,
    answeringModel: request.model ?? 'claude-opus-5-5',
    request: {
      ...{ model: 'claude-opus-5-5', maxTokens, stream: false, ...request },
      fields: { ...fields },
    },
    countTokens: async () => counted,
  };
}

const open = ({ meter }: Run, call: CallFields = {}) => meter.open(callOf(call));

/** The status of the refusal; null if the call was opened. */
async function statusOf(run: Run, call: CallFields = {}): Promise<number | null> {
  const opened = await open(run, call);
  return opened.outcome === 'refused' ? opened.error.status : null;
}

async function openedCall(run: Run) {
  const opened = await open(run);
  if (opened.outcome === 'refused') throw new Error(opened.error.message);
  return opened.call;
}

/** Ends a call with usage that costs this much. */
async function spend(run: Run, outputTokens: number): Promise<void> {
  const call = await openedCall(run);
  const usage = { input_tokens: 0, output_tokens: outputTokens };
  call.answered(200, 'application/json');
  call.read(Buffer.from(JSON.stringify({ model: 'claude-opus-5-5', usage })));
  call.end('answered');
}

const isExceeded = (run: Run) =>
  Promise.race([run.meter.exceeded, new Promise((resolve) => setTimeout(resolve, 20, null))]);

describe('a budget', () => {
  test('is enough for a call that can cost all of it, and not for one that can cost more', async () => {
    const exact = await meteredRun({ maxBudgetUsd: usd(most) });
    expect(await statusOf(exact)).toBeNull();
    expect(await isExceeded(exact)).toBeNull();
    const short = await meteredRun({ maxBudgetUsd: usd(most - 1) });
    expect(await statusOf(short)).toBe(402);
    expect(await isExceeded(short)).toBe('budget_exceeded');
  });

  test('holds for a hundred calls at once', async () => {
    const run = await meteredRun({ maxBudgetUsd: usd(7 * most) });
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(run)));
    expect(statuses.filter((status) => status === null)).toHaveLength(7);
    expect(new Set(statuses)).toEqual(new Set([null, 402]));
  });

  test('gets back the part of a reservation that a call has not used', async () => {
    const run = await meteredRun({ maxBudgetUsd: usd(most + 10 * rates.output) });
    await spend(run, 10);
    const call = await openedCall(run);
    expect(await statusOf(run)).toBe(402);
    call.end('failed');
    expect(await statusOf(run)).toBeNull();
  });

  test('includes what the run has spent before this process', async () => {
    const spending = { calls: 3, costNanos: 500 };
    const enough = await meteredRun({ maxBudgetUsd: usd(most + 500), spending });
    expect(await statusOf(enough)).toBeNull();
    const short = await meteredRun({ maxBudgetUsd: usd(most + 499), spending });
    expect(await statusOf(short)).toBe(402);
  });

  test('includes calls that the previous process could not store', async () => {
    const state = { isAway: true };
    const onRecord = () => (state.isAway ? Promise.reject(new Error('away')) : Promise.resolve());
    const run = await meteredRun({ maxBudgetUsd: usd(most + 99 * rates.output), onRecord });
    await spend(run, 100);
    run.meter.close();
    state.isAway = false;
    expect(await statusOf(await run.again())).toBe(402);
  });

  test('is compared with the counted tokens if the length alone does not fit', async () => {
    const counted = 200;
    const least = Math.ceil(counted * 1.05) * rates.written + maxTokens * rates.output;
    const exact = await meteredRun({ maxBudgetUsd: usd(least) });
    expect(await statusOf(exact, { counted })).toBeNull();
    const short = await meteredRun({ maxBudgetUsd: usd(least - 1) });
    expect(await statusOf(short, { counted })).toBe(402);
  });

  test('is never compared with a count above the length', async () => {
    const run = await meteredRun({ maxBudgetUsd: usd(most - 1) });
    expect(await statusOf(run, { counted: 1e9 })).toBe(402);
  });

  test.each([
    ['of a model without a price', { model: 'my-model' }, 403],
    ['at another speed', { fields: { speed: 'fast' } }, 403],
    ['in a chosen place', { fields: { inference_geo: 'us' } }, 403],
    [
      'to a second model, even if permitted',
      { fields: { fallbacks: [{ model: 'claude-haiku-5-5' }] } },
      403,
    ],
    ['without a bound of its answer', { maxTokens: null }, 400],
  ])('permits no call %s, and the run continues', async (_which, call, status) => {
    const run = await meteredRun({ maxBudgetUsd: 1, allowedModels: ['my-model'] });
    expect(await statusOf(run, call)).toBe(status);
    expect(await statusOf(run)).toBeNull();
    expect(await isExceeded(run)).toBeNull();
    const unlimited = await meteredRun({ allowedModels: ['my-model'] });
    expect(await statusOf(unlimited, call)).toBeNull();
  });
});

describe('a run with maxTurns', () => {
  test('makes 20 calls per turn and 50 more, and then no other', async () => {
    const run = await meteredRun({ maxTurns: 1, spending: { calls: 65, costNanos: 0 } });
    const statuses = [];
    for (let call = 66; call <= 71; call += 1) statuses.push(await statusOf(run));
    expect(statuses).toEqual([null, null, null, null, null, 403]);
    expect(await isExceeded(run)).toBe('too_many_calls');
  });
});

describe('a run', () => {
  test('calls its model, the agent’s small one, and those that its flow lists', async () => {
    const run = await meteredRun({ model: 'sonnet', allowedModels: ['my-model'] });
    for (const model of ['claude-sonnet-5-5', 'claude-haiku-5-5', 'my-model']) {
      expect([model, await statusOf(run, { model })]).toEqual([model, null]);
    }
    const opened = await open(run, { model: 'claude-opus-5-5' });
    expect(opened).toMatchObject({ outcome: 'refused', error: { status: 403 } });
    expect(await isExceeded(run)).toBeNull();
  });

  test('calls no other model through a field that names a further one', async () => {
    const run = await meteredRun({ model: 'sonnet', allowedModels: ['my-model'] });
    const model = 'claude-sonnet-5-5';
    const naming = (further: unknown) => [
      { model, fields: { fallbacks: [{ model: 'my-model' }, { model: further }] } },
      { model, fields: { tools: [{ name: 'a' }, { type: 'advisor_20260301', model: further }] } },
    ];
    for (const call of naming('my-model')) expect(await statusOf(run, call)).toBeNull();
    for (const call of naming('claude-opus-5-5')) expect(await statusOf(run, call)).toBe(403);
  });
});
