import { randomUUID } from 'node:crypto';
import { limits } from '../../../core/limits.ts';
import type { EndpointEvent } from '../../../core/webhook.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';

/** Where events of a project are sent to, in addition to the callback URLs of its runs. */
export interface Endpoint {
  endpointId: string;
  projectId: string;
  url: string;
  eventTypes: EndpointEvent[];
  createdAt: Date;
}

type NewEndpoint = Pick<Endpoint, 'projectId' | 'url' | 'eventTypes'>;
type EndpointPatch = Partial<Pick<Endpoint, 'url' | 'eventTypes'>>;

export type EndpointStore = ReturnType<typeof createEndpointStore>;

export function createEndpointStore(pool: Pool) {
  return {
    /** Null if the project has as many as it may have. */
    create: (input: NewEndpoint) => createEndpoint(pool, input),
    /** Those that were not removed, oldest first. */
    list: (projectId: string) => listEndpoints(pool, projectId),
    /** Null if there is no such endpoint, or if it was removed. */
    find: (endpointId: string) => findEndpoint(pool, endpointId),
    /** Applies to later events. An event that was not sent yet is sent to the new URL. */
    update: (endpointId: string, patch: EndpointPatch) => updateEndpoint(pool, endpointId, patch),
    /** Nothing is sent to it any more. A second call changes nothing. */
    remove: (endpointId: string) => removeEndpoint(pool, endpointId),
  };
}

const columns = `id as "endpointId", project_id as "projectId", url, event_types as "eventTypes",
  created_at as "createdAt"`;

/** The lock of the project orders concurrent calls, and the count is read after it is granted. */
async function createEndpoint(pool: Pool, input: NewEndpoint): Promise<Endpoint | null> {
  const { projectId, url, eventTypes } = input;
  return inTransaction(pool, async (db) => {
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
  });
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

async function findEndpoint(db: Db, endpointId: string): Promise<Endpoint | null> {
  const { rows } = await db.query<Endpoint>(
    `select ${columns} from webhook_endpoints where id = $1 and removed_at is null`,
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
async function removeEndpoint(db: Db, endpointId: string): Promise<void> {
  const text = `
    update webhook_endpoints set removed_at = db_clock() where id = $1 and removed_at is null`;
  await db.query(text, [endpointId]);
}
