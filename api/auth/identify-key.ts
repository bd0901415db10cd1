import type { FastifyRequest } from 'fastify';
import { apiKeyRule } from '../../core/field-rules.ts';
import { agentTokenRule, scopesOfAgent } from '../../core/keys/agent-tokens.ts';
import { runTokenRule, scopesOfRunToken } from '../../core/keys/run-tokens.ts';
import { childRunLimits } from '../../core/runs/child-runs.ts';
import type { KeyStore } from '../../systems/postgres/accounts/key-store.ts';
import type { RunTokenStore } from '../../systems/postgres/accounts/run-token-store.ts';
import type {
  AgentHolder,
  AgentTokenStore,
} from '../../systems/postgres/runs/agent-token-store.ts';
import type { Caller } from '../app-types.ts';
import { ApiError, unauthorized } from '../errors.ts';
import { isUuid } from '../http/not-found.ts';
import { createBruteForceGuard } from './brute-force-guard.ts';
import { presentedKey } from './credentials.ts';

interface KeyAccess {
  keys: Pick<KeyStore, 'findByKey' | 'findWithFlow'>;
  runTokens: Pick<RunTokenStore, 'findHolder'>;
  agentTokens: Pick<AgentTokenStore, 'findHolder'>;
  /** Called for every authenticated request. */
  onUse: (keyId: string) => void;
  nowMs: () => number;
}

export type IdentifyKey = (request: FastifyRequest) => Promise<Caller>;

/**
 * Returns the caller with the presented API key, run token or agent token, or throws. The key is
 * looked up for every call, so a revocation takes effect immediately. The same statement reads the
 * flow in the path, which most routes need. The long texts of the flow are not read, because the
 * flow stays in memory while the body arrives.
 */
export function createKeyIdentification(access: KeyAccess): IdentifyKey {
  const { keys, runTokens, agentTokens, onUse, nowMs } = access;
  const guard = createBruteForceGuard(nowMs);

  async function find(secret: string, flowId: string | null): Promise<Caller | null> {
    if (runTokenRule.pattern.test(secret)) return findByRunToken(secret, flowId);
    if (agentTokenRule.pattern.test(secret)) {
      const holder = await agentTokens.findHolder(secret, flowId);
      return holder && agentCaller(holder);
    }
    if (flowId === null) {
      const key = await keys.findByKey(secret);
      return key && { key, flow: null, runToken: null, agent: null };
    }
    const found = await keys.findWithFlow(secret, flowId);
    return found && { ...found, runToken: null, agent: null };
  }

  async function findByRunToken(token: string, flowId: string | null): Promise<Caller | null> {
    const holder = await runTokens.findHolder(token, flowId);
    if (holder === null) return null;
    const { key } = holder;
    return { ...holder, key: { ...key, scopes: scopesOfRunToken(key.scopes) }, agent: null };
  }

  return async (request) => {
    const secret = presentedKey(request);
    if (secret === null || !isCredential(secret)) throw unauthorized();
    const waitSeconds = guard.retryAfterSeconds(secret, request.ip);
    if (waitSeconds === Number.POSITIVE_INFINITY) throw unauthorized();
    if (waitSeconds > 0) throw tooManyUnknownKeys(waitSeconds);
    const found = await find(secret, flowIdOf(request));
    guard.record(secret, request.ip, found !== null);
    if (found?.key.state !== 'active') throw unauthorized();
    if (found.agent === null) onUse(found.key.keyId);
    return found;
  };
}

const isCredential = (secret: string): boolean =>
  [apiKeyRule, runTokenRule, agentTokenRule].some(({ pattern }) => pattern.test(secret));

/** An agent has the rate limit of its run, and the key of the run decides what it may do. */
function agentCaller({ runId, projectId, key, createdBy, flow }: AgentHolder): Caller | null {
  const scopes = scopesOfAgent(key?.scopes ?? null);
  if (scopes === null) return null;
  const own = { ...(key ?? noKey(createdBy)), projectId, keyId: runId, scopes };
  const agent = { runId, keyId: key?.keyId ?? null };
  return {
    key: { ...own, rateLimitRpm: childRunLimits.ratePerMinute },
    flow,
    runToken: null,
    agent,
  };
}

/** For a run that a schedule or an operator has started. */
const noKey = ({ keyName: name, createdBy }: AgentHolder['createdBy']) => ({
  ...{ name, createdBy, shownPrefix: '', monthlyBudgetUsd: null, state: 'active' as const },
  ...{ expiresAt: null, revokedAt: null, lastUsedAt: null, createdAt: new Date(0) },
});

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
