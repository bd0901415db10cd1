/**
 * Which queue a piece of work waits in. Long and short activities never share one: a host whose
 * places are all taken by following activities must still be able to stop a sandbox.
 */
export const runQueue = (instance: string): string => `${instance}/run`;
export const webhookQueue = (instance: string): string => `${instance}/webhook`;
export const hostQueue = (instance: string, hostId: string): string => `${instance}/host/${hostId}`;
export const followQueue = (instance: string, hostId: string): string =>
  `${hostQueue(instance, hostId)}/follow`;
