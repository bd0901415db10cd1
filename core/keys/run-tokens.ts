import type { TextRule } from '../field-rules.ts';
import { flowIdsOf, type KeyAction, type KeyScopes, permitsAction } from './key-scopes.ts';

export const runTokenLimits = {
  /** The longest validity, which is also the default. */
  maxSeconds: 3_600,
  /** Expired tokens that are deleted when one is created. */
  purgeRows: 100,
} as const;

export const runTokenRule: TextRule = {
  pattern: /^frt_[0-9A-Za-z]{43}$/,
  expected: '"frt_" and 43 letters and digits',
};

const actions: readonly KeyAction[] = ['read', 'chat'];

/**
 * The scopes of a token of a key with these scopes. Scopes for flows alone would permit every
 * action, so a token without an action has no scopes.
 */
export function scopesOfRunToken(ofKey: KeyScopes): string[] {
  const permitted = actions.filter((action) => permitsAction(ofKey, [action]));
  if (permitted.length === 0) return [];
  return [...permitted, ...(flowIdsOf(ofKey) ?? []).map((flowId) => `flow:${flowId}`)];
}
