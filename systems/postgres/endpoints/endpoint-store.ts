import { randomUUID } from 'node:crypto';
import { limits } from '../../../core/limits.ts';
import type { EndpointEvent } from '../../../core/webhook.ts';
import type { Db } from '../client/pool.ts';

/** Receives events of a project, in addition to the callback URLs of its runs. */
export interface Endpoint {
  endpointId: string;
  projectId: string;
  /** Null: its events are only stored. */
  url: string | null;
  eventTypes: EndpointEvent[];
  createdAt: Date;
}

type NewEndpoint = Pick<Endpoint, 'projectId' | 'url' | 'eventTypes'>;
type EndpointPatch = { url?: string; eventTypes?: EndpointEvent[] };

export type EndpointStore = ReturnType<typeof createEndpointStore>;

export function createEndpointStore(db: Db) {
  return {
    /** Oldest first, without removed endpoints. */
    list: (projectId: string) => listEndpoints(db, projectId),
    /** Null if there is no such endpoint, or if it was removed. */
    find: (endpointId: string) => findEndpoint(db, endpointId),
  };
}

/** The changes of endpoints within a transaction. */
export type EndpointChanges = ReturnType<typeof createEndpointChanges>;

export function createEndpointChanges(db: Db) {
  return {
    /** Null if the project has the maximum number of endpoints. */
    create: (input: NewEndpoint) => createEndpoint(db, input),
    /** Like `find`, and locks the endpoint until the transaction ends. */
    lock: (endpointId: string) => findEndpoint(db, endpointId, 'for no key update'),
    /** Applies to later events. An event that has not been sent is sent to the new URL. */
    update: (endpointId: string, patch: EndpointPatch) => updateEndpoint(db, endpointId, patch),
    /** Stops all sending to the endpoint. False if it was already removed. */
    remove: (endpointId: string) => removeEndpoint(db, endpointId),
  };
}

const columns = `id as "endpointId", project_id as "projectId", url, event_types as "eventTypes",
  created_at as "createdAt"`;

/** The lock of the project orders concurrent calls, and the count is read after it is granted. */
async function createEndpoint(
  db: Db,
  { projectId, url, eventTypes }: NewEndpoint,
): Promise<Endpoint | null> {
  await db.query('select from projects where id = $1 for no key update', [projectId]);
  const { rows } = await db.query<Endpoint>(
    `insert into webhook_endpoints (id, project_id, url, event_types)
     select $1, $2, $3, $4
     where $5 > (
       select count(*) from webhook_endpoints e where e.project_id = $2 and e.removed_at is null
     )
     returning ${columns}`,
    [randomUUID(), projectId, url, eventTypes, limits.webhook.endpointsPerProject],
  );
  return rows[0] ?? null;
}

async function listEndpoints(db: Db, projectId: string): Promise<Endpoint[]> {
  const { rows } = await db.query<Endpoint>(
    `select ${columns} from webhook_endpoints
     where project_id = $1 and removed_at is null
     order by created_at, id`,
    [projectId],
  );
  return rows;
}

async function findEndpoint(
  db: Db,
  endpointId: string,
  lock: 'for no key update' | '' = '',
): Promise<Endpoint | null> {
  const { rows } = await db.query<Endpoint>(
    `select ${columns} from webhook_endpoints where id = $1 and removed_at is null ${lock}`,
    [endpointId],
  );
  return rows[0] ?? null;
}

async function updateEndpoint(
  db: Db,
  endpointId: string,
  { url, eventTypes }: EndpointPatch,
): Promise<Endpoint | null> {
  const { rows } = await db.query<Endpoint>(
    `update webhook_endpoints
     set url = coalesce($2, url), event_types = coalesce($3::text[], event_types)
     where id = $1 and removed_at is null
     returning ${columns}`,
    [endpointId, url, eventTypes],
  );
  return rows[0] ?? null;
}

/** The claim of an attempt finds no URL from then on, so a pending event is dropped. */
async function removeEndpoint(db: Db, endpointId: string): Promise<boolean> {
  const text = `
    update webhook_endpoints set removed_at = db_clock() where id = $1 and removed_at is null`;
  const { rowCount } = await db.query(text, [endpointId]);
  return rowCount === 1;
}
