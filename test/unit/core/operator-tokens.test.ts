import { expect, test } from 'vitest';
import { operatorTokenLimits, tokenExpiryError } from '../../../core/keys/operator-tokens.ts';

test('a token expires in the future, and within 365 days', () => {
  const now = new Date('2030-01-01T00:00:00.000Z');
  const errorAt = (ms: number) => tokenExpiryError(new Date(now.getTime() + ms), now);
  expect(errorAt(0)).toBe('must be in the future');
  expect(errorAt(1)).toBeNull();
  expect(errorAt(operatorTokenLimits.maxMs)).toBeNull();
  expect(errorAt(operatorTokenLimits.maxMs + 1)).toBe('must be at most 365 days from now');
});
