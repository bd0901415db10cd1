// Pending events whose delivery a worker starts. From the time `start_at` on a worker may take an
// event. Taking it moves the time into the future, so a pending event with a later time is in
// progress.

import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';
import { before } from '../maintenance/before-now.ts';

/** A pending event whose workflow has not been started, or may have been terminated. */
interface DueEvent {
  eventId: string;
  requestId: string | null;
  /** 0: the first delivery; n: the n-th that an operator requested. */
  delivery: number;
}

const { eventsPerPass, eventsInProgress, eventRestartAfterMs } = limits.webhook;

/** How many more events of the project `p` may be in progress. Reads no more than there may be. */
const freeSlots = `
  select $1 - count(*) as slots from (
    select from webhook_events
    where project_id = p.project_id and state = 'pending' and start_at > (select db_clock())
    limit $1
  ) in_progress`;

/**
 * `step` lists the projects with one index lookup each. A project whose receivers do not answer has
 * a limited number of events in progress, so that its attempts delay those of no other project. A
 * taken event has a later `start_at`, so that a concurrent call does not take it again.
 */
export async function takeDue(db: Db): Promise<DueEvent[]> {
  const { rows } = await db.query<DueEvent>(
    `with recursive step (project_id) as (
       (select project_id from webhook_events where state = 'pending' order by project_id limit 1)
       union all
       select (select e.project_id from webhook_events e
               where e.state = 'pending' and e.project_id > step.project_id
               order by e.project_id limit 1)
       from step where step.project_id is not null
     ),
     due as (
       select e.id, e.start_at
       from step p cross join lateral (${freeSlots}) free
       cross join lateral (
         select id, start_at, row_number() over (order by start_at) as turn
         from webhook_events
         where project_id = p.project_id and state = 'pending' and start_at <= (select db_clock())
         order by start_at limit free.slots
       ) e
       order by e.turn, e.start_at limit $2
     )
     update webhook_events e set start_at = db_clock() + $3 * interval '1 ms'
     from due where e.id = due.id and e.start_at = due.start_at and e.state = 'pending'
     returning e.id as "eventId", e.request_id as "requestId", e.redeliveries as delivery`,
    [eventsInProgress, eventsPerPass, eventRestartAfterMs],
  );
  return rows;
}

export async function listUnstarted(db: Db, dueForMs: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select p.id from webhook_events p
     where p.state = 'pending' and p.start_at < ${before('$2')} and 0 < (${freeSlots})
     order by p.start_at limit $3`,
    [eventsInProgress, dueForMs, eventsPerPass],
  );
  return rows.map(({ id }) => id);
}

export async function returnDue(db: Db, eventIds: string[]): Promise<void> {
  const text = `
    update webhook_events set start_at = db_clock()
    where id = any($1::uuid[]) and state = 'pending'`;
  await db.query(text, [eventIds]);
}

/** The event is taken again, with the next number. */
export async function renumber(db: Db, eventId: string, delivery: number): Promise<void> {
  const text = `
    update webhook_events set redeliveries = redeliveries + 1, start_at = db_clock()
    where id = $1 and state = 'pending' and redeliveries = $2`;
  await db.query(text, [eventId, delivery]);
}
