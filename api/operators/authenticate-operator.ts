import type { FastifyRequest } from 'fastify';
import type { Operator, OperatorStore } from '../../systems/postgres/accounts/operator-store.ts';
import type { App } from '../app-types.ts';
import { type BruteForceGuard, createBruteForceGuard } from '../auth/brute-force-guard.ts';
import { ApiError } from '../errors.ts';
import { sessionIn } from './cookie.ts';

interface OperatorAccess {
  operators: Pick<OperatorStore, 'findBySession'>;
  publicUrl: string;
  nowMs: () => number;
}

/**
 * Authenticates operators. API keys are not accepted here, and sessions are not accepted elsewhere.
 * A write must come from a page of this service: besides `SameSite`, its `Origin` is checked. The
 * session is looked up for every call, so removing an operator takes effect immediately.
 */
export function authenticateOperators(app: App, access: OperatorAccess): BruteForceGuard {
  const guard = createBruteForceGuard(access.nowMs);
  const origin = new URL(access.publicUrl).origin;
  app.decorateRequest('operator', null);

  app.addHook('onRequest', async (request, reply) => {
    const { operatorAuth } = request.routeOptions.config;
    if (operatorAuth === undefined) return;
    reply.header('cache-control', 'no-store');
    if (operatorAuth === 'signed-in') request.operator = await identify(request);
    if (isWrite(request) && request.headers.origin !== origin) throw foreignOrigin();
  });

  async function identify(request: FastifyRequest): Promise<Operator> {
    const session = sessionIn(request.headers.cookie, access.publicUrl);
    if (session === null || !tokenPattern.test(session)) throw notSignedIn();
    throttleAttempts(guard, { token: session, address: request.ip, error: notSignedIn });
    const operator = await access.operators.findBySession(session);
    guard.record(session, request.ip, operator !== null);
    if (operator === null) throw notSignedIn();
    return operator;
  }

  return guard;
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

const isWrite = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD';

const foreignOrigin = () =>
  new ApiError('UNAUTHORIZED', 'The Origin header must be that of this service.', {
    status: 403,
  });
