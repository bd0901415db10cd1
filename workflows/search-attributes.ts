import { defineSearchAttributeKey } from '@temporalio/common';

/** Never encrypted, readable by every operator: ids and words of ours only. */
export const hostIdAttribute = defineSearchAttributeKey('HostId', 'KEYWORD');
export const runStatusAttribute = defineSearchAttributeKey('RunStatus', 'KEYWORD');
