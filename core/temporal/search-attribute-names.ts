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
 * The value of `EndCause` until the run ends. It is missing if the workflow was started by an
 * earlier version, or on a server without the attribute.
 */
export const noEndCause = 'none';
