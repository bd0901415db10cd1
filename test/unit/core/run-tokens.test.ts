import { expect, test } from 'vitest';
import { scopesOfRunToken } from '../../../core/keys/run-tokens.ts';

test.each([
  [null, ['read', 'chat']],
  [['read'], ['read']],
  [
    ['chat', 'run', 'flow:a'],
    ['chat', 'flow:a'],
  ],
  [['flow:a'], ['read', 'chat', 'flow:a']],
  // Without an action, scopes for flows would permit every action.
  [['run', 'flow:a'], []],
  [['run'], []],
  // An action of a later version.
  [['files', 'flow:a'], []],
])('a token of a key with the scopes %j has the scopes %j', (ofKey, ofToken) => {
  expect(scopesOfRunToken(ofKey)).toEqual(ofToken);
});
