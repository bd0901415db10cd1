import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';

/** Search attributes are never encrypted: they hold ids and fixed words only. */
const hostIdAttribute = defineSearchAttributeKey('HostId', 'KEYWORD');
const runStatusAttribute = defineSearchAttributeKey('RunStatus', 'KEYWORD');
const endCauseAttribute = defineSearchAttributeKey('EndCause', 'KEYWORD');

/** A run keeps its host until it ends. */
export function setHost(hostId: string): void {
  upsert([{ key: hostIdAttribute, value: hostId }]);
}

/** A session has a host while it has a sandbox. Unchanged values are not written. */
export function setSessionHost(hostId: string | null): void {
  const known = workflowInfo().typedSearchAttributes.get(hostIdAttribute) ?? null;
  if (known === hostId) return;
  const status = hostId === null ? 'sleep' : 'running';
  upsert([
    { key: hostIdAttribute, value: hostId },
    { key: runStatusAttribute, value: status },
  ]);
}

/** `EndCause` is not set if the workflow was started without it. */
export function setEnded(cause: EndCause): void {
  const hasCause = workflowInfo().typedSearchAttributes.get(endCauseAttribute) !== undefined;
  upsert([
    { key: runStatusAttribute, value: 'sleep' },
    ...(hasCause ? [{ key: endCauseAttribute, value: cause }] : []),
  ]);
}

/**
 * A workflow that was started without search attributes runs on a server that lacks them. The
 * server would reject every workflow task that sets one.
 */
function upsert(pairs: SearchAttributeUpdatePair[]): void {
  if (workflowInfo().typedSearchAttributes.get(runStatusAttribute) === undefined) return;
  upsertSearchAttributes(pairs);
}
