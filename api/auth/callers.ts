import type { KeyAction } from '../../core/keys/key-scopes.ts';

/**
 * The origin of a request: an API key, a signed-in operator, or anyone, if the route needs no
 * credential.
 */
export type CallerKind = 'anyone' | 'key' | 'operator';

export const forAnyone = { callers: ['anyone'] } as const;
export const forOperatorAccess = { callers: ['operator'], isForOwnPages: true } as const;

/** A key with scopes needs one of these. */
export const forKeys = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key'], scopes }) as const;
