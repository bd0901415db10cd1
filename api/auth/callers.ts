import type { KeyAction } from '../../core/keys/key-scopes.ts';

/**
 * The origin of a request: an API key, a token of a key for one run, the agent of a run, an
 * operator who has signed in, an operator token, or anyone, if the route needs no credential.
 */
export type CallerKind = 'anyone' | 'key' | 'run-token' | 'agent' | 'operator' | 'operator-token';

export const forAnyone = { callers: ['anyone'] } as const;
export const forOperatorAccess = {
  callers: ['operator', 'operator-token'],
  isForOwnPages: true,
} as const;

/** Operators who have signed in. Operator tokens are rejected. */
export const forSignedIn = { callers: ['operator'], isForOwnPages: true } as const;

/** A key with scopes needs one of these. */
export const forKeys = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key'], scopes }) as const;

/** Like `forKeys`, and also accepts the run token of the run. */
export const forKeysAndRunTokens = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key', 'run-token'], scopes }) as const;

/** Like `forKeys`, and also accepts the agent of a run. */
export const forKeysAndAgents = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key', 'agent'], scopes }) as const;

/** Like `forKeys`, and also accepts run tokens and the agent of a run. */
export const forRunCallers = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key', 'run-token', 'agent'], scopes }) as const;
