import type { FastifyRequest } from 'fastify';
import { apiKeyRule } from '../../core/field-rules.ts';
import type { KeyStore } from '../../systems/postgres/accounts/key-store.ts';
import type { App, Caller } from '../app-types.ts';
import { ApiError, unauthorized } from '../errors.ts';
import { isUuid } from '../http/not-found.ts';
import { createBruteForceGuard } from './brute-force-guard.ts';
import { presentedKey } from './credentials.ts';

interface AuthenticateDeps {
  keys: Pick<KeyStore, 'findByKey' | 'findWithFlow'>;
  /** Called for every authenticated request. */
  onUse: (keyId: string) => void;
  nowMs: () => number;
}

/**
 * Runs before every route. Every route needs a key unless its config says otherwise; below
 * `/api/v1` so does a path without a route. The key is looked up for every call, so a revocation
 * takes effect immediately. The same statement reads the flow in the path, which most routes below
 * it need, without its texts: a request keeps it in memory while its body arrives.
 */
export function authenticate(app: App, { keys, onUse, nowMs }: AuthenticateDeps): void {
  const guard = createBruteForceGuard(nowMs);
  app.decorateRequest('caller', null);

  async function identify(request: FastifyRequest): Promise<Caller> {
    const secret = presentedKey(request);
    if (secret === null || !apiKeyRule.pattern.test(secret)) throw unauthorized();
    const waitSeconds = guard.retryAfterSeconds(secret, request.ip);
    if (waitSeconds === Number.POSITIVE_INFINITY) throw unauthorized();
    if (waitSeconds > 0) throw tooManyUnknownKeys(waitSeconds);
    const found = await find(secret, flowIdOf(request));
    guard.record(secret, request.ip, found !== null);
    if (found?.key.state !== 'active') throw unauthorized();
    return found;
  }

  async function find(secret: string, flowId: string | null): Promise<Caller | null> {
    if (flowId !== null) return keys.findWithFlow(secret, flowId);
    const key = await keys.findByKey(secret);
    return key && { key, flow: null };
  }

  app.addHook('onRequest', async (request) => {
    if (needsNoKey(request)) return;
    request.caller = await identify(request);
    onUse(request.caller.key.keyId);
  });
}

/** Null if the path has none, or if it is malformed. */
function flowIdOf({ params }: FastifyRequest): string | null {
  const { flowId } = params as { flowId?: string };
  return flowId !== undefined && isUuid(flowId) ? flowId : null;
}

function needsNoKey(request: FastifyRequest): boolean {
  const { isPublic, operatorAuth } = request.routeOptions.config;
  if (!request.is404) return isPublic === true || operatorAuth !== undefined;
  return !/^\/api\/v1(\/|\?|$)/.test(request.url);
}

function tooManyUnknownKeys(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many unknown API keys from this IP address.', {
    headers: { 'retry-after': String(seconds) },
  });
}
