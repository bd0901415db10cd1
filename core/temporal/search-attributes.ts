/**
 * By what operators find workflows in Temporal. Never encrypted and readable by every operator: ids
 * and words of ours only. All are of the type Keyword.
 */
export const searchAttributeNames = [
  'ProjectId',
  'FlowId',
  'RunStatus',
  'TriggerType',
  'SessionId',
  'HostId',
] as const;

export type SearchAttributeName = (typeof searchAttributeNames)[number];
