import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import { patched, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

/** Never encrypted, readable by every operator: ids and words of ours only. */
const hostIdAttribute = defineSearchAttributeKey('HostId', 'KEYWORD');
const runStatusAttribute = defineSearchAttributeKey('RunStatus', 'KEYWORD');

/** A run has this one host for all of its life. */
export function setHost(hostId: string): void {
  upsert([{ key: hostIdAttribute, value: hostId }]);
}

/** A session has a host for as long as it has a sandbox; said only where it changes. */
export function setSessionHost(hostId: string | null): void {
  const known = workflowInfo().typedSearchAttributes.get(hostIdAttribute) ?? null;
  if (known === hostId) return;
  // Sessions live for weeks: there are some that did not say so when they began.
  if (!patched('findable-by-place')) return;
  const status = hostId === null ? 'sleep' : 'running';
  upsert([
    { key: hostIdAttribute, value: hostId },
    { key: runStatusAttribute, value: status },
  ]);
}

export function setEnded(): void {
  upsert([{ key: runStatusAttribute, value: 'sleep' }]);
}

/** Started without: its server does not know them, and would refuse every task that brings them. */
function upsert(pairs: SearchAttributeUpdatePair[]): void {
  if (workflowInfo().typedSearchAttributes.get(runStatusAttribute) === undefined) return;
  upsertSearchAttributes(pairs);
}
