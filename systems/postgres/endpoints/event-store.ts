// The events of a project: one row for each endpoint or callback URL that gets the event. They
// are delivered like the webhook of a run, each in a workflow that the reconciler starts.

import type { WebhookEvent } from '../../../core/webhook.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { type AttemptClaim, claimAttempt, type DeliveryTables } from '../runs/claim-attempt.ts';
import { listAttempts, type MadeAttempt } from '../runs/list-attempts.ts';
import { type AttemptResult, recordAttempt } from '../runs/record-attempt.ts';
import { listUnstarted, renumber, returnDue, takeDue } from './due-events.ts';

/** An event for an endpoint, without its body. */
export interface EndpointEventRecord {
  eventId: string;
  /** Null: it is sent to the callback URL of its session. */
  endpointId: string | null;
  projectId: string;
  /** Null if no run has caused it. */
  runId: string | null;
  event: WebhookEvent;
  /** `held`: its endpoint had no URL, so nothing is sent. */
  state: 'pending' | 'delivered' | 'dropped' | 'held';
  attempts: number;
  lastStatus: number | null;
  createdAt: Date;
}

const tables: DeliveryTables = {
  deliveries: 'webhook_events',
  attempts: 'webhook_event_attempts',
  id: 'event_id',
  prefix: '',
  sent: `r.event, r.run_id as "runId", r.body, r.id as "deliveryId", r.request_id as "requestId",
    case when r.endpoint_id is null
      then (select o.callback_url from runs o where o.id = r.run_id)
      else (select e.url from webhook_endpoints e where e.id = r.endpoint_id and e.removed_at is null)
    end as url`,
};

export type EventStore = ReturnType<typeof createEventStore>;

export function createEventStore(pool: Pool, sealer: Sealer) {
  return {
    /** Claims the attempt after the last one, once it is due. */
    claimAttempt: (claim: AttemptClaim) => claimAttempt({ pool, sealer, tables }, claim),
    /** A status of 2xx completes the delivery. */
    recordAttempt: (eventId: string, attempt: number, result: AttemptResult) =>
      recordAttempt(pool, tables, { id: eventId, attempt, ...result }),
    /** No further attempt is made. An event that was delivered before stays delivered. */
    drop: (eventId: string) => dropEvent(pool, eventId),
    /** For an event whose delivery has succeeded in a time that the database has lost. */
    markDelivered: (eventId: string) => markDelivered(pool, eventId),
    /** The number of this redelivery was used in a time that the database has lost. */
    renumber: (eventId: string, delivery: number) => renumber(pool, eventId, delivery),
    find: (eventId: string) => findEvent(pool, eventId),
    /** All attempts, in their order. */
    attempts: (eventId: string): Promise<MadeAttempt[]> => listAttempts(pool, tables, eventId),
    /** Latest first. `after` is a page's `next`. */
    page: (endpointId: string, query: PageQuery) =>
      pageOfEvents(pool, { ...query, receiver: 'endpoint_id = $1', receiverId: endpointId }),
    /** The same for the events that are sent to the callback URL of a session. */
    pageOfSession: (runId: string, query: PageQuery) =>
      pageOfEvents(pool, { ...query, receiver: ofSession, receiverId: runId }),
    /**
     * Takes pending events so that their workflows can be started, in turn between the projects.
     * Of each project it takes no more than may be in progress at a time. An event that stays
     * pending is taken again later, because its workflow may have been terminated.
     */
    takeDue: () => takeDue(pool),
    /**
     * Pending events that no worker has taken for this long, although their project had fewer in
     * progress than it may have, up to a limit.
     */
    unstarted: (dueForMs: number) => listUnstarted(pool, dueForMs),
    /** The next call of `takeDue` takes these again. */
    returnDue: (eventIds: string[]) => returnDue(pool, eventIds),
  };
}

/** Requests by operators, within a transaction. */
export type EventRequests = ReturnType<typeof createEventRequests>;

export function createEventRequests(db: Db) {
  return {
    /** Adds `endpoint.test`. Returns its ID. */
    addTest: (endpointId: string, body: string) => addTest(db, endpointId, body),
    /**
     * Delivers the event again. Returns the number of the delivery; null while one is in progress,
     * and for an event that is held.
     */
    redeliver: (eventId: string) => redeliver(db, eventId),
  };
}

const columns = `id as "eventId", endpoint_id as "endpointId", project_id as "projectId",
  run_id as "runId", event, state, attempts, last_status as "lastStatus",
  created_at as "createdAt"`;

/**
 * A redelivery that fails does not undo an earlier success. Adds no `delivery.dropped` then, and
 * none for a removed endpoint or for another `delivery.dropped`.
 */
async function dropEvent(db: Db, eventId: string): Promise<void> {
  await db.query(
    `with success as (
       select status from webhook_event_attempts
       where event_id = $1 and status between 200 and 299
       order by delivery desc limit 1
     ),
     ended as (
       update webhook_events
       set state = case when exists (select from success) then 'delivered' else 'dropped' end,
           last_status = coalesce((select status from success), last_status)
       where id = $1 and state = 'pending'
       returning *
     )
     select add_event(e.project_id, 'delivery.dropped', json_build_object(
       'deliveryId', e.id, 'event', e.event, 'endpointId', e.endpoint_id,
       'attempts', e.attempts, 'lastStatus', e.last_status
     ), e.run_id)
     from ended e
     where e.state = 'dropped' and e.event <> 'delivery.dropped' and not exists (
       select from webhook_endpoints p where p.id = e.endpoint_id and p.removed_at is not null
     )`,
    [eventId],
  );
}

async function markDelivered(db: Db, eventId: string): Promise<void> {
  const text = `
    update webhook_events set state = 'delivered' where id = $1 and state = 'pending'`;
  await db.query(text, [eventId]);
}

async function addTest(db: Db, endpointId: string, body: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `with added as (
       insert into webhook_events (endpoint_id, project_id, event, body, state)
       select id, project_id, 'endpoint.test', $2, case when url is null then 'held' else 'pending' end
       from webhook_endpoints where id = $1
       returning id, project_id, octet_length(body) as bytes
     ),
     counted as (
       insert into stored_bytes_changes (project_id, kind, bytes)
       select project_id, 'messages', bytes from added
     )
     select id from added`,
    [endpointId, body],
  );
  if (!rows[0]) throw new Error(`no endpoint ${endpointId}`);
  return rows[0].id;
}

async function redeliver(db: Db, eventId: string): Promise<number | null> {
  const { rows } = await db.query<{ delivery: number }>(
    `update webhook_events
     set state = 'pending', redeliveries = redeliveries + 1, start_at = db_clock()
     where id = $1 and state not in ('pending', 'held')
     returning redeliveries as delivery`,
    [eventId],
  );
  return rows[0]?.delivery ?? null;
}

async function findEvent(
  db: Db,
  eventId: string,
): Promise<(EndpointEventRecord & { body: string }) | null> {
  const text = `select ${columns}, body from webhook_events where id = $1`;
  const { rows } = await db.query<EndpointEventRecord & { body: string }>(text, [eventId]);
  return rows[0] ?? null;
}

interface PageQuery {
  limit: number;
  after?: string;
}

const ofSession = 'run_id = $1 and endpoint_id is null';

interface EventReceiver {
  receiver: 'endpoint_id = $1' | typeof ofSession;
  receiverId: string;
}

async function pageOfEvents(
  db: Db,
  { receiver, receiverId, limit, after }: PageQuery & EventReceiver,
): Promise<{ events: EndpointEventRecord[]; next: string | null }> {
  const { rows } = await db.query<EndpointEventRecord>(
    `select ${columns} from webhook_events
     where ${receiver}
       and ($2::uuid is null
            or (created_at, id) < (select a.created_at, a.id from webhook_events a where a.id = $2))
     order by created_at desc, id desc
     limit $3`,
    [receiverId, after ?? null, limit + 1],
  );
  const events = rows.slice(0, limit);
  return { events, next: rows.length > limit ? (events.at(-1)?.eventId ?? null) : null };
}
