/** What a key with this scope may do: read, start and control runs, or hold conversations. */
export type KeyAction = 'read' | 'run' | 'chat';

export const keyScopesMax = 100;

/** `read`, `run`, `chat`, or `flow:<id>`. */
export const keyScopeRule = {
  pattern: /^(?:read|run|chat|flow:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/,
  expected: '"read", "run", "chat", or "flow:" and the ID of a flow in lower case',
};

/** The scopes of a key. Null: the key is not limited. */
export type KeyScopes = readonly string[] | null;

/**
 * Scopes for flows alone permit every action. A scope that is not known here may be of a later
 * version: it permits nothing.
 */
export function permitsAction(scopes: KeyScopes, permitted: readonly KeyAction[]): boolean {
  if (scopes === null || flowIdsOf(scopes)?.length === scopes.length) return true;
  return permitted.some((action) => scopes.includes(action));
}

/** The IDs of the flows that a key is limited to; null: all flows of its project. */
export function flowIdsOf(scopes: KeyScopes): string[] | null {
  const prefix = 'flow:';
  const flowScopes = scopes?.filter((scope) => scope.startsWith(prefix)) ?? [];
  return flowScopes.length === 0 ? null : flowScopes.map((scope) => scope.slice(prefix.length));
}
