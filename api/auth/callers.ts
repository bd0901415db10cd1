import type { KeyAction } from '../../core/keys/key-scopes.ts';

/**
 * The origin of a request: an API key, an operator who has signed in, an operator token, or anyone,
 * if the route needs no credential.
 */
export type CallerKind = 'anyone' | 'key' | 'operator' | 'operator-token';

export const forAnyone = { callers: ['anyone'] } as const;
export const forOperatorAccess = {
  callers: ['operator', 'operator-token'],
  isForOwnPages: true,
} as const;

/** Operators with a session only. */
export const forSignedIn = { callers: ['operator'], isForOwnPages: true } as const;

/** A key with scopes needs one of these. */
export const forKeys = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key'], scopes }) as const;
