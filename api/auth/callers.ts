/**
 * Who a request comes from: an API key, an operator who is signed in, or anyone, if the route needs
 * no credential.
 */
export type CallerKind = 'anyone' | 'key' | 'operator';

export const forAnyone = { callers: ['anyone'] } as const;
export const forKeys = { callers: ['key'] } as const;
export const forOperatorAccess = { callers: ['operator'], isForOwnPages: true } as const;
