import type { FastifyRequest } from 'fastify';
import { apiKeyRule } from '../../core/field-rules.ts';
import type { KeyStore } from '../../systems/postgres/accounts/key-store.ts';
import type { Caller } from '../app-types.ts';
import { ApiError, unauthorized } from '../errors.ts';
import { isUuid } from '../http/not-found.ts';
import { createBruteForceGuard } from './brute-force-guard.ts';
import { presentedKey } from './credentials.ts';

interface KeyAccess {
  keys: Pick<KeyStore, 'findByKey' | 'findWithFlow'>;
  /** Called for every authenticated request. */
  onUse: (keyId: string) => void;
  nowMs: () => number;
}

export type IdentifyKey = (request: FastifyRequest) => Promise<Caller>;

/**
 * Returns the caller with the presented API key, or throws. The key is looked up for every call, so
 * a revocation takes effect immediately. The same statement reads the flow in the path, which most
 * routes need. It leaves out the texts, because the flow is in memory while the body arrives.
 */
export function createKeyIdentification({ keys, onUse, nowMs }: KeyAccess): IdentifyKey {
  const guard = createBruteForceGuard(nowMs);

  async function find(secret: string, flowId: string | null): Promise<Caller | null> {
    if (flowId !== null) return keys.findWithFlow(secret, flowId);
    const key = await keys.findByKey(secret);
    return key && { key, flow: null };
  }

  return async (request) => {
    const secret = presentedKey(request);
    if (secret === null || !apiKeyRule.pattern.test(secret)) throw unauthorized();
    const waitSeconds = guard.retryAfterSeconds(secret, request.ip);
    if (waitSeconds === Number.POSITIVE_INFINITY) throw unauthorized();
    if (waitSeconds > 0) throw tooManyUnknownKeys(waitSeconds);
    const found = await find(secret, flowIdOf(request));
    guard.record(secret, request.ip, found !== null);
    if (found?.key.state !== 'active') throw unauthorized();
    onUse(found.key.keyId);
    return found;
  };
}

/** Null if the path has no flow ID, or a malformed one. */
function flowIdOf({ params }: FastifyRequest): string | null {
  const { flowId } = params as { flowId?: string };
  return flowId !== undefined && isUuid(flowId) ? flowId : null;
}

function tooManyUnknownKeys(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many unknown API keys from this IP address.', {
    headers: { 'retry-after': String(seconds) },
  });
}
