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
 * The door to what operators do. An API key opens nothing here, and a session nothing elsewhere. A
 * write has to come from a page of this service: besides `SameSite`, its `Origin` must say so. The
 * session is looked up at every call, so who was removed is out at once.
 */
export function authenticateOperators(app: App, access: OperatorAccess): BruteForceGuard {
  const unknown = createBruteForceGuard(access.nowMs);
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
    throttleAttempts(unknown, { token: session, address: request.ip, error: notSignedIn });
    const operator = await access.operators.findBySession(session);
    unknown.record(session, request.ip, operator !== null);
    if (operator === null) throw notSignedIn();
    return operator;
  }

  return unknown;
}

/** Of codes and sessions alike. */
export const tokenPattern = /^[0-9A-Za-z]{43}$/;

interface Attempt {
  token: string;
  address: string;
  /** What a token that is known to be wrong is answered with. */
  error: () => ApiError;
}

export function throttleAttempts(
  unknown: BruteForceGuard,
  { token, address, error }: Attempt,
): void {
  const wait = unknown.retryAfterSeconds(token, address);
  if (wait === Number.POSITIVE_INFINITY) throw error();
  if (wait === 0) return;
  throw new ApiError('RATE_LIMITED', 'Too many attempts from this address.', {
    headers: { 'retry-after': String(wait) },
  });
}

const notSignedIn = () =>
  new ApiError('UNAUTHORIZED', 'An operator has to be signed in; the way in is a sign-in link.');

/** The operator of a route that needs one. */
export function operatorOf(request: FastifyRequest): Operator {
  if (request.operator === null) throw new Error('a route for operators was reached without one');
  return request.operator;
}

const isWrite = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD';

const foreignOrigin = () =>
  new ApiError('UNAUTHORIZED', 'A change has to come from a page of this service (Origin).', {
    status: 403,
  });
