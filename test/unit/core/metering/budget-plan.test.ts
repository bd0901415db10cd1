import { describe, expect, test } from 'vitest';
import { answerTokensMax, unpricedModel } from '../../../../core/metering/budget-plan.ts';
import { modelPrice } from '../../../../core/metering/model-prices.ts';

const day = '2026-11-23';
const mine = modelPrice({ input: 1, output: 100, cacheRead: 1 });
const priced = (model: string | null, prices = {}) => ({ model, prices, day });

test.each([null, 'opus', 'sonnet[1m]', 'opusplan', 'claude-opus-4-1', 'claude-sonnet-5-5'])(
  'a run of model %s can have a budget',
  (model) => expect(unpricedModel(priced(model))).toBeNull(),
);

test.each(['my-model', 'claude-opus-9', 'claude-opus', 'Opus'])(
  'a run of model %s can have a budget only once its price is known',
  (model) => {
    expect(unpricedModel(priced(model))).toBe(model);
    expect(unpricedModel(priced(model, { [model]: [mine] }))).toBeNull();
  },
);

describe('the longest answer of an agent', () => {
  const answerOf = (maxBudgetUsd: number | null, model: string | null = null, prices = {}) =>
    answerTokensMax({ ...priced(model, prices), maxBudgetUsd, mayAnswerOffline: false });

  test('costs at most a quarter of the budget', () => {
    expect(answerOf(1)).toBe(12_500);
    expect(answerOf(1, 'my-model', { 'my-model': [mine] })).toBe(2_500);
    expect(answerOf(1, 'opusplan')).toBe(12_500);
  });

  test('is not limited without a budget, with a large one, and without a price', () => {
    expect(answerOf(null)).toBeNull();
    expect(answerOf(10.24)).toBeNull();
    expect(answerOf(10.23)).toBe(127_875);
    expect(answerOf(1, 'my-model')).toBeNull();
  });

  test('costs at most a quarter of the budget at the price of the offline model too, if it may answer', () => {
    const offline = { maxBudgetUsd: 1, mayAnswerOffline: true };
    expect(answerTokensMax({ ...priced('haiku'), ...offline })).toBe(50_000);
    expect(answerTokensMax({ ...priced('opus'), ...offline })).toBe(12_500);
  });

  test('has at least 256 tokens, however small the budget', () => {
    expect(answerOf(0.01)).toBe(256);
  });
});
