import type { FastifyRequest } from 'fastify';
import type { Operator, OperatorStore } from '../../systems/postgres/accounts/operator-store.ts';
import type { BruteForceGuard } from '../auth/brute-force-guard.ts';
import { ApiError } from '../errors.ts';
import { sessionIn } from './sign-in/cookie.ts';

interface OperatorAccess {
  operators: Pick<OperatorStore, 'findBySession'>;
  publicUrl: string;
  guard: BruteForceGuard;
}

export type IdentifyOperator = (request: FastifyRequest) => Promise<Operator>;

/**
 * Returns the operator whose session is in the cookie, or throws. The session is looked up for
 * every call, so removing an operator takes effect immediately.
 */
export function createOperatorIdentification(access: OperatorAccess): IdentifyOperator {
  const { operators, publicUrl, guard } = access;
  return async (request) => {
    const session = sessionIn(request.headers.cookie, publicUrl);
    if (session === null || !tokenPattern.test(session)) throw notSignedIn();
    throttleAttempts(guard, { token: session, address: request.ip, error: notSignedIn });
    const operator = await operators.findBySession(session);
    guard.record(session, request.ip, operator !== null);
    if (operator === null) throw notSignedIn();
    return operator;
  };
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
  new ApiError('UNAUTHORIZED', 'Sign in as an operator with a sign-in link.');

/** The operator of a route that needs one. */
export function operatorOf(request: FastifyRequest): Operator {
  if (request.operator === null) throw new Error('no operator: the route skipped authentication');
  return request.operator;
}
