import type { KeyAction } from '../../core/keys/key-scopes.ts';

/**
 * Who a request comes from: an API key, an operator who is signed in, or anyone, if the route needs
 * no credential.
 */
export type CallerKind = 'anyone' | 'key' | 'operator';

export const forAnyone = { callers: ['anyone'] } as const;
export const forOperatorAccess = { callers: ['operator'], isForOwnPages: true } as const;

/** A key with scopes needs one of these. */
export const forKeys = (...scopes: [KeyAction, ...KeyAction[]]) =>
  ({ callers: ['key'], scopes }) as const;
