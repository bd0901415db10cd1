import type { FastifyRequest } from 'fastify';
import { operatorTokenRule } from '../../core/keys/operator-tokens.ts';
import type { OperatorStore } from '../../systems/postgres/accounts/operator-store.ts';
import type { OperatorTokenStore } from '../../systems/postgres/accounts/operator-token-store.ts';
import type { OperatorCaller } from '../app-types.ts';
import type { BruteForceGuard } from '../auth/brute-force-guard.ts';
import { presentedKey } from '../auth/credentials.ts';
import { ApiError } from '../errors.ts';
import { sessionIn } from './sign-in/cookie.ts';

interface OperatorAccess {
  operators: Pick<OperatorStore, 'findBySession'>;
  operatorTokens: Pick<OperatorTokenStore, 'findHolder'>;
  publicUrl: string;
  guard: BruteForceGuard;
}

/** Has no flow: the flow in the path is read after the project in the path was checked. */
type IdentifiedOperator = Omit<OperatorCaller, 'flow'>;

export type IdentifyOperator = (request: FastifyRequest) => Promise<IdentifiedOperator>;

/**
 * Returns the operator whose token is in the `Authorization` header, or whose session is in the
 * cookie, or throws. Both are looked up for every call, so that a revocation, and the removal of an
 * operator, take effect immediately.
 */
export function createOperatorIdentification(access: OperatorAccess): IdentifyOperator {
  const { operators, operatorTokens, publicUrl, guard } = access;

  async function byToken(token: string, address: string): Promise<IdentifiedOperator> {
    throttleAttempts(guard, { token, address, error: invalidToken });
    const holder = await operatorTokens.findHolder(token);
    guard.record(token, address, holder !== null);
    if (holder === null) throw invalidToken();
    return { ...holder, credential: token };
  }

  async function bySession({ headers, ip: address }: FastifyRequest): Promise<IdentifiedOperator> {
    const session = sessionIn(headers.cookie, publicUrl);
    if (session === null || !tokenPattern.test(session)) throw notSignedIn();
    throttleAttempts(guard, { token: session, address, error: notSignedIn });
    const operator = await operators.findBySession(session);
    guard.record(session, address, operator !== null);
    if (operator === null) throw notSignedIn();
    return { ...operator, token: null, credential: session };
  }

  return (request) => {
    const token = presentedToken(request);
    return token === null ? bySession(request) : byToken(token, request.ip);
  };
}

/** Null on routes that accept no token. A reverse proxy may use the header for itself. */
function presentedToken(request: FastifyRequest): string | null {
  const { callers = [] } = request.routeOptions.config;
  const presented = callers.includes('operator-token') ? presentedKey(request) : null;
  return presented !== null && operatorTokenRule.pattern.test(presented) ? presented : null;
}

/** The form of sign-in codes and of sessions. */
export const tokenPattern = /^[0-9A-Za-z]{43}$/;

interface Attempt {
  token: string;
  address: string;
  /** The error for a token that is known to be invalid. */
  error: () => ApiError;
}

export function throttleAttempts(guard: BruteForceGuard, { token, address, error }: Attempt): void {
  const wait = guard.retryAfterSeconds(token, address);
  if (wait === Number.POSITIVE_INFINITY) throw error();
  if (wait === 0) return;
  throw new ApiError('RATE_LIMITED', 'Too many attempts from this IP address.', {
    headers: { 'retry-after': String(wait) },
  });
}

const notSignedIn = () =>
  new ApiError(
    'UNAUTHORIZED',
    'Sign in as an operator with a sign-in link, or send an operator token.',
  );

const invalidToken = () =>
  new ApiError('UNAUTHORIZED', 'The operator token is unknown, expired or revoked.', {
    headers: { 'www-authenticate': 'Bearer' },
  });

/** The operator of a route that needs one. */
export function operatorOf(request: FastifyRequest): OperatorCaller {
  if (request.operator === null) throw new Error('no operator: the route skipped authentication');
  return request.operator;
}
