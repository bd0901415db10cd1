import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, type OperatorService, ServiceError } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { RunOutline } from '../../core/runs/run.ts';
import {
  noEndCause,
  type SearchAttributeName,
  searchAttributeNames,
} from '../../core/temporal/search-attribute-names.ts';

interface Registrar {
  operator: OperatorService;
  namespace: string;
}

/** KEYWORD in Temporal's enumeration IndexedValueType. */
const keyword = 2;
/** gRPC's status code INVALID_ARGUMENT. */
const invalidArgument = 3;
const maxAttempts = 5;
const retryAfterMs = 300;

/**
 * Registers the attributes that the namespace lacks and returns them. Safe to repeat. The server
 * rejects all but one of several concurrent registrations. The others find the attributes at the
 * next attempt.
 */
export async function ensureSearchAttributes(
  registrar: Registrar,
  attempt = 1,
): Promise<SearchAttributeName[]> {
  const missing = await findMissing(registrar);
  if (missing.length === 0) return [];
  try {
    await register(registrar, missing);
    return missing;
  } catch (error) {
    if (attempt >= maxAttempts) throw error;
    await sleep(retryAfterMs);
    return ensureSearchAttributes(registrar, attempt + 1);
  }
}

export async function findMissing({
  operator,
  namespace,
}: Registrar): Promise<SearchAttributeName[]> {
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  return searchAttributeNames.filter((name) => !isKeyword(customAttributes[name]));
}

const isKeyword = (type: number | undefined): boolean => type === keyword;

async function register(
  { operator, namespace }: Registrar,
  names: SearchAttributeName[],
): Promise<void> {
  const searchAttributes = Object.fromEntries(names.map((name) => [name, keyword]));
  await operator.addSearchAttributes({ namespace, searchAttributes });
}

/** A server that lacks one of the attributes rejects the start, so the run starts without any. */
export async function withSearchAttributes<T>(
  run: RunOutline,
  start: (attributes: SearchAttributePair[]) => Promise<T>,
): Promise<T> {
  try {
    return await start(searchAttributesOf(run));
  } catch (error) {
    if (!isUnknownAttribute(error)) throw error;
    return start([]);
  }
}

export function isUnknownAttribute(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(cause)) return false;
  const { code, details }: { code: number; details: string } = cause;
  return code === invalidArgument && details.includes('search attribute');
}

function searchAttributesOf(run: RunOutline): SearchAttributePair[] {
  const values: Record<SearchAttributeName, string | null> = {
    ProjectId: run.projectId,
    FlowId: run.flowId,
    TriggerType: run.triggerType,
    RunStatus: run.status,
    HostId: run.hostId,
    SessionId: run.sessionId,
    EndCause: noEndCause,
  };
  return searchAttributeNames.flatMap((name) => {
    const value = values[name];
    return value === null ? [] : [{ key: defineSearchAttributeKey(name, 'KEYWORD'), value }];
  });
}
