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

  test('counts what only looks like an image by its length, because the model reads it as text', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'A'.repeat(100_000) } };
    const asText = { type: 'image', source: { type: 'text', data: 'A'.repeat(100_000) } };
    for (const content of [
      [{ type: 'tool_use', name: 'any', input: image }],
      [{ type: 'tool_use', name: 'any', input: { content: [image] } }],
      [{ type: 'text', text: 'Hi.', content: [image] }],
      [asText],
    ]) {
      const { bytes, promptTokens } = bounded({ messages: [{ role: 'user', content }] });
      expect(promptTokens).toBeGreaterThanOrEqual(bytes);
    }
    const tools = [{ name: 'any', input_schema: { properties: { image } } }];
    expect(bounded({ tools }).promptTokens).toBeGreaterThanOrEqual(100_000);
  });

  test('counts an image elsewhere than in the request by its price', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a' } };
    const { bytes, promptTokens } = bounded({ messages: [{ role: 'user', content: [image] }] });
    expect(promptTokens).toBe(bytes + 5_000);
  });

  test.each(['base64', 'url', 'file'])(
    'is the longest prompt if a document may have any number of pages (%s)',
    (type) => {
      const document = { type: 'document', source: { type, data: 'JVBERi0=' } };
      const messages = [{ role: 'user', content: [{ type: 'tool_result', content: [document] }] }];
      expect(bounded({ messages }).promptTokens).toBe(1_000_000);
    },
  );

  test('counts a document of plain text by its length', () => {
    const document = { type: 'document', source: { type: 'text', data: 'A'.repeat(100) } };
    const { bytes, promptTokens } = bounded({ messages: [{ role: 'user', content: [document] }] });
    expect(promptTokens).toBe(bytes);
  });

  test('includes what the model API adds to a prompt with tools', () => {
    const [own, defined] = [{ name: 'Read' }, { name: 'bash', type: 'bash_20250124' }];
    const added = (tools: object[]) => {
      const { bytes, promptTokens } = bounded({ tools });
      return promptTokens - bytes;
    };
    expect([added([]), added([own, own]), added([own, defined])]).toEqual([0, 1_000, 2_000]);
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
