import type { FastifyRequest } from 'fastify';
import type { KeyRecord } from '../../systems/postgres/accounts/key-store.ts';
import type { App, Caller } from '../app-types.ts';
import { ApiError, unauthorized } from '../errors.ts';
import { createBruteForceGuard } from './brute-force-guard.ts';
import { presentedKey } from './credentials.ts';

export interface AuthenticateDeps {
  keys: { findByKey: (key: string) => Promise<KeyRecord | null> };
  /** Told of every key that was let in. */
  onUse: (keyId: string) => void;
  nowMs: () => number;
}

/**
 * Stands before everything: a route is open only where it says so itself, and what is no route at
 * all is closed below `/api/v1`. A key is looked up at every call, so a revocation counts at once.
 */
export function authenticate(app: App, { keys, onUse, nowMs }: AuthenticateDeps): void {
  const unknownKeys = createBruteForceGuard(nowMs);
  app.decorateRequest('caller', null);

  async function identify(request: FastifyRequest): Promise<Caller> {
    const secret = presentedKey(request);
    if (secret === null || !keyPattern.test(secret)) throw unauthorized();
    const wait = unknownKeys.retryAfterSeconds(secret, request.ip);
    if (wait === Number.POSITIVE_INFINITY) throw unauthorized();
    if (wait > 0) throw tooManyUnknownKeys(wait);
    const key = await keys.findByKey(secret);
    unknownKeys.record(secret, request.ip, key !== null);
    if (key?.state !== 'active') throw unauthorized();
    return { key, secret };
  }

  app.addHook('onRequest', async (request) => {
    if (isOpen(request)) return;
    request.caller = await identify(request);
    onUse(request.caller.key.keyId);
  });
}

const keyPattern = /^frs_[0-9A-Za-z]{43}$/;

function isOpen(request: FastifyRequest): boolean {
  const { isPublic, operatorAuth } = request.routeOptions.config;
  if (!request.is404) return isPublic === true || operatorAuth !== undefined;
  return !/^\/api\/v1(\/|\?|$)/.test(request.url);
}

function tooManyUnknownKeys(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many unknown API keys from this address.', {
    headers: { 'retry-after': String(seconds) },
  });
}
