/**
 * Operators find workflows in Temporal by these attributes, all of type Keyword. Search attributes
 * are never encrypted: they hold ids and fixed words only.
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
