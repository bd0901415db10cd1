import { describe, expect, test } from 'vitest';
import { costBound, costOf, usdOf } from '../../../../core/metering/call-cost.ts';
import { findPrice, listPrices, modelPrice } from '../../../../core/metering/model-prices.ts';
import { noTokens } from '../../../../core/metering/token-counts.ts';

const day = '2026-11-23';
const priceOf = (model: string, prices = {}) => findPrice(model, { prices, day });
const opus = priceOf('claude-opus-5-5') ?? modelPrice({ input: 0, output: 0, cacheRead: 0 });
const haiku = priceOf('claude-haiku-5-5') ?? opus;

describe('the price of a model', () => {
  test.each(Object.keys(listPrices))('of %s is a whole number of nano-dollars', (model) => {
    const { validFrom: _day, longPrompt, ...rates } = priceOf(model) ?? opus;
    for (const nanos of Object.values({ ...rates, ...longPrompt })) {
      expect(Number.isSafeInteger(nanos) && nanos > 0).toBe(true);
    }
  });

  test.each([
    ['claude-opus-4-1-20250805', 15_000],
    ['claude-opus-4-20250514', 15_000],
    ['claude-3-5-haiku-latest', 800],
    ['claude-opus-5-5[1m]', 4_000],
    ['offline-model', 1_000],
  ])('is found for %s', (model, input) => {
    expect(priceOf(model)?.input).toBe(input);
  });

  test.each(['', 'my-model', 'claude-opus', 'claude-opus-5-5-mine', '__proto__', 'toString'])(
    'is unknown for %j, never 0',
    (model) => expect(priceOf(model)).toBeNull(),
  );

  test('is the one that is valid on the day', () => {
    const rates = { output: 5, cacheRead: 0.1 };
    const prices = {
      mine: [
        modelPrice({ ...rates, input: 3, validFrom: '2026-12-01' }),
        modelPrice({ ...rates, input: 1, validFrom: '2026-06-01' }),
        modelPrice({ ...rates, input: 2, validFrom: '2026-11-23' }),
      ],
    };
    const inputOn = (at: string) => findPrice('mine', { prices, day: at })?.input ?? null;
    expect(
      ['2026-05-31', '2026-06-01', '2026-11-22', '2026-11-23', '2026-12-01'].map(inputOn),
    ).toEqual([null, 1_000, 1_000, 2_000, 3_000]);
  });

  test('is the operator’s if there is one, for the name or for the name without its date', () => {
    const mine = [modelPrice({ input: 7, output: 8, cacheRead: 9 })];
    const prices = { 'claude-opus-5-5': mine, 'claude-sonnet-5-5-20260101': mine };
    expect(priceOf('claude-opus-5-5', prices)?.input).toBe(7_000);
    expect(priceOf('claude-opus-5-5-20260901', prices)?.input).toBe(7_000);
    expect(priceOf('claude-sonnet-5-5-20260101', prices)?.input).toBe(7_000);
    expect(priceOf('claude-sonnet-5-5', prices)?.input).toBe(2_000);
  });
});

describe('the cost of a call', () => {
  const each = {
    ...{ input: 1, output: 1, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1, webSearches: 1 },
  };

  test('adds up every kind at its own price', () => {
    expect(costOf(noTokens, opus)).toBe(0);
    expect(costOf(each, opus)).toBe(4_000 + 20_000 + 200 + 5_000 + 8_000 + 10_000_000);
  });

  test('is that of a long prompt only if the prompt is longer than the bound', () => {
    const at = { ...noTokens, input: 60_000, cacheRead: 40_000, output: 1 };
    expect(costOf(at, haiku)).toBe(60_000 * 100 + 40_000 * 10 + 500);
    expect(costOf({ ...at, input: 60_001 }, haiku)).toBe(60_001 * 500 + 40_000 * 50 + 2_500);
  });

  test('is exact where dollars in floating point are not, and has six decimals', () => {
    const nanos = Array.from({ length: 3 }, () => costOf({ ...noTokens, output: 5_000 }, opus));
    const sum = nanos.reduce((a, b) => a + b, 0);
    expect([sum, usdOf(sum)]).toEqual([300_000_000, 0.3]);
    expect(usdOf(1_234_567)).toBe(0.001235);
    expect(usdOf(499)).toBe(0);
  });

  test('is never above the bound of the call, for any part of the prompt in the cache', () => {
    const bound = { promptTokens: 5, cachesForAnHour: true, outputTokens: 1, webSearches: 1 };
    const spent = [
      { ...each, input: 2 },
      { ...each, input: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
      { ...each, input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 5 },
    ];
    for (const tokens of spent) {
      expect(costOf(tokens, opus)).toBeLessThanOrEqual(costBound(bound, opus));
    }
    const shorter = { ...each, input: 0, cacheRead: 0, cacheWrite5m: 5, cacheWrite1h: 0 };
    const shorterBound = costBound({ ...bound, cachesForAnHour: false }, opus);
    expect(costOf(shorter, opus)).toBe(shorterBound);
    expect(shorterBound).toBeLessThan(costBound(bound, opus));
  });
});
