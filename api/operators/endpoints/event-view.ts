import type { EndpointEventRecord } from '../../../systems/postgres/endpoints/event-store.ts';

export const eventView = <E extends EndpointEventRecord>({ createdAt, ...event }: E) => ({
  ...event,
  createdAt: createdAt.toISOString(),
});
