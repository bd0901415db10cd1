import { operatorTokenRule } from '../../core/keys/operator-tokens.ts';
import type { OperatorCaller } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { createRevocationWatch } from './revocation-watch.ts';

interface WatchedCaller {
  key: { keyId: string };
  /** If present, the stream belongs to this operator instead of the key. */
  operator?: OperatorCaller;
}

/** Calls back when the key, the session or the operator token of an open stream is revoked. */
export function createCallerWatch(
  deps: Pick<ApiDeps, 'keys' | 'operators' | 'operatorTokens' | 'logger'>,
) {
  const { logger } = deps;
  const ofKeys = createRevocationWatch({ activeOf: (ids) => deps.keys.activeOf(ids), logger });
  const activeOf = (credentials: string[]) => activeOperators(deps, credentials);
  const ofOperators = createRevocationWatch({ activeOf, logger });
  return {
    /** Returns a function that stops watching. */
    watch: ({ key, operator }: WatchedCaller, onRevoked: () => void) =>
      operator === undefined
        ? ofKeys.watch(key.keyId, onRevoked)
        : ofOperators.watch(operator.credential, onRevoked),
    close() {
      ofKeys.close();
      ofOperators.close();
    },
  };
}

/** Returns the sessions and tokens of operators that are still valid. */
async function activeOperators(
  { operators, operatorTokens }: Pick<ApiDeps, 'operators' | 'operatorTokens'>,
  credentials: string[],
): Promise<string[]> {
  const found = await Promise.all(
    credentials.map((credential) =>
      operatorTokenRule.pattern.test(credential)
        ? operatorTokens.findHolder(credential)
        : operators.findBySession(credential),
    ),
  );
  return credentials.filter((_, i) => found[i] !== null);
}
