import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callBound } from '../../../../core/metering/call-bound.ts';
import { createCallBudget } from '../../../../core/metering/call-budget.ts';

describe('a budget', () => {
  test('is used up to its last nano-dollar and not beyond', () => {
    const budget = createCallBudget({ limit: 100, spent: 10 });
    expect(budget.reserve(91)).toBe(false);
    expect(budget.reserve(90)).toBe(true);
    expect(budget.reserve(1)).toBe(false);
    budget.settle(90, 60);
    expect(budget.reserve(31)).toBe(false);
    expect(budget.reserve(30)).toBe(true);
  });

  test('is never exceeded by calls in any order, if each costs at most what it reserved', () => {
    const calls = fc.array(fc.tuple(fc.nat(100), fc.float({ min: 0, max: 1, noNaN: true })));
    fc.assert(
      fc.property(calls, fc.nat(1_000), (each, limit) => {
        const budget = createCallBudget({ limit, spent: 0 });
        const open: { reserved: number; cost: number }[] = [];
        let spent = 0;
        for (const [reserved, part] of each) {
          if (budget.reserve(reserved)) open.push({ reserved, cost: Math.floor(reserved * part) });
          const done = part < 0.5 ? open.shift() : undefined;
          if (done === undefined) continue;
          budget.settle(done.reserved, done.cost);
          spent += done.cost;
        }
        for (const { cost } of open) spent += cost;
        expect(spent).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

describe('the bound of a call', () => {
  const bounded = (fields: object) => {
    const bytes = Buffer.byteLength(JSON.stringify(fields));
    return { bytes, ...callBound({ bytes, maxTokens: 7, fields: { ...fields } }) };
  };

  test('is a token per byte of its prompt, and all tokens that it may write', () => {
    const { bytes, ...bound } = bounded({ messages: [{ role: 'user', content: 'päivää' }] });
    expect(bound).toEqual({
      ...{ promptTokens: bytes, outputTokens: 7 },
      ...{ webSearches: 0, cachesForAnHour: false },
    });
  });

  test('counts an image by its maximum price, also within a tool result', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'A'.repeat(100_000) } };
    const messages = [
      { content: [image] },
      { content: [{ type: 'tool_result', content: [image] }] },
    ];
    const { bytes, promptTokens } = bounded({ messages });
    expect(promptTokens).toBe(bytes - 200_000 + 10_000);
  });

  test.each([
    { system: [{ text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    { messages: [{ content: [{ text: 'Hi.', cache_control: { ttl: '1h' } }] }] },
    { tools: [{ name: 'Bash', cache_control: { ttl: '1h' } }] },
    { cache_control: { ttl: '1h' } },
  ])('knows that a prompt is cached for an hour: %j', (fields) => {
    expect(bounded(fields).cachesForAnHour).toBe(true);
    const shorter = JSON.parse(JSON.stringify(fields).replace('1h', '5m')) as object;
    expect(bounded(shorter).cachesForAnHour).toBe(false);
  });

  test('includes the searches that it may make', () => {
    const tools = [
      { name: 'web_search', type: 'web_search_20250305', max_uses: 8 },
      { name: 'Bash' },
      { name: 'web_search', type: 'web_search_20250305' },
    ];
    expect(bounded({ tools }).webSearches).toBe(28);
  });
});
