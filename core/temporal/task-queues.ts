/**
 * Long and short activities never share a task queue: a host that follows as many runs as it has
 * slots must still be able to stop a sandbox.
 */
export const runQueue = (instance: string): string => `${instance}/run`;
export const webhookQueue = (instance: string): string => `${instance}/webhook`;
/** Webhooks of projects that have many undelivered ones, and webhooks that are sent later. */
export const webhookBacklogQueue = (instance: string): string =>
  `${webhookQueue(instance)}/backlog`;
export const hostQueue = (instance: string, hostId: string): string => `${instance}/host/${hostId}`;
export const followQueue = (instance: string, hostId: string): string =>
  `${hostQueue(instance, hostId)}/follow`;
