import type { TextRule } from '../field-rules.ts';
import { flowIdsOf, type KeyScopes, permitsAction } from './key-scopes.ts';

export const agentTokenRule: TextRule = {
  pattern: /^fra_[0-9A-Za-z_-]{40,200}$/,
  expected: '"fra_" and the sealed ID of a run',
};

/**
 * The scopes of the agent of a run that a key with these scopes has started. Null: the key may no
 * longer start runs, and neither may the agent.
 */
export function scopesOfAgent(ofKey: KeyScopes): string[] | null {
  if (!permitsAction(ofKey, ['run'])) return null;
  return ['read', 'run', ...(flowIdsOf(ofKey) ?? []).map((flowId) => `flow:${flowId}`)];
}
