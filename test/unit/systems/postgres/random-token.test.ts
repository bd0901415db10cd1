import { expect, test } from 'vitest';
import { apiKeyRule } from '../../../../core/field-rules.ts';
import { derivedToken } from '../../../../systems/postgres/client/random-token.ts';

const key = Buffer.alloc(32, 1);

test('a derived token is the same for a key and a purpose, and differs for others', () => {
  const token = derivedToken(key, 'first');
  expect(`frs_${token}`).toMatch(apiKeyRule.pattern);
  expect(derivedToken(key, 'first')).toBe(token);
  const others = [derivedToken(key, 'second'), derivedToken(Buffer.alloc(32, 2), 'first')];
  expect(new Set([token, ...others]).size).toBe(3);
});
