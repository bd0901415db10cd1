import type { EndpointEvent } from '../../core/webhook.ts';
import type { Pool } from '../../systems/postgres/client/pool.ts';
import { inTransaction } from '../../systems/postgres/client/transaction.ts';
import {
  createEndpointChanges,
  type EndpointChanges,
} from '../../systems/postgres/endpoints/endpoint-store.ts';

interface NewTestEndpoint {
  projectId: string;
  url: string | null;
  eventTypes: EndpointEvent[];
}

export const changeEndpoints = <T>(
  pool: Pool,
  work: (changes: EndpointChanges) => Promise<T>,
): Promise<T> => inTransaction(pool, (db) => work(createEndpointChanges(db)));

/** Adds an endpoint to a project. Returns its ID. */
export async function addEndpoint(pool: Pool, endpoint: NewTestEndpoint): Promise<string> {
  const made = await changeEndpoints(pool, (changes) => changes.create(endpoint));
  if (made === null) throw new Error('the project has the maximum number of endpoints');
  return made.endpointId;
}

export const removeEndpoint = (pool: Pool, endpointId: string): Promise<boolean> =>
  changeEndpoints(pool, (changes) => changes.remove(endpointId));
