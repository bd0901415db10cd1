import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithinJsonBounds } from '../../../core/json-bounds.ts';

const within = (text: string, depthMax: number, valuesMax = 1_000): boolean =>
  isWithinJsonBounds(Buffer.from(text), { depthMax, valuesMax });

test('counts the nesting of arrays and objects', () => {
  expect(within('[[{"a":[]}]]', 4)).toBe(true);
  expect(within('[[{"a":[]}]]', 3)).toBe(false);
  expect(within('[[],[],[]]', 2)).toBe(true);
});

test('counts values', () => {
  expect(within('[1,2,3]', 1, 3)).toBe(true);
  expect(within('[1,2,3]', 1, 2)).toBe(false);
});

test('ignores brackets and commas in strings, and escaped quotes', () => {
  expect(within(String.raw`["[[[[\"[[,,,\\","[[[[ä[[[,,\\\"[["]`, 1, 2)).toBe(true);
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('agrees with the parsed value on its depth', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const depth = depthOf(JSON.parse(text));
      expect(within(text, depth)).toBe(true);
      if (depth > 0) expect(within(text, depth - 1)).toBe(false);
    }),
  );
});
