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
  'EndCause',
] as const;

export type SearchAttributeName = (typeof searchAttributeNames)[number];

/**
 * The value of `EndCause` until the run ends. A workflow without it was started on a server that
 * lacks the attribute.
 */
export const noEndCause = 'none';
