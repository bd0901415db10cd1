import type { Db, Pool } from '../client/pool.ts';

/** Totals over the whole service. */
export function createFleetStore(pool: Pool, hostStaleMs: number) {
  return { count: () => countFleet(pool, hostStaleMs) };
}

interface FleetRow {
  runs: { waiting: number; starting: number; running: number; awake: number; asleep: number };
  oldest_run: number | null;
  messages: number;
  oldest_message: number | null;
  webhooks: number;
  oldest_webhook: number | null;
  events: number;
  oldest_event: number | null;
  hosts: { live: number; draining: number; disk_short: number; stale: number };
  slots: { free: number; occupied: number };
  capped: number;
  missing_workflows: number;
  stored: { files: number; transcripts: number; logs: number; messages: number };
  over_storage: number;
  spent_budgets: { 80: number; 100: number };
}

async function countFleet(db: Db, hostStaleMs: number) {
  const { rows } = await db.query<FleetRow>(countStatement, [`${hostStaleMs} ms`]);
  const row = rows[0];
  if (!row) throw new Error('the count returned no row');
  return {
    runs: row.runs,
    oldestRunSeconds: row.oldest_run ?? 0,
    messages: row.messages,
    oldestMessageSeconds: row.oldest_message ?? 0,
    webhooks: row.webhooks,
    oldestWebhookSeconds: row.oldest_webhook ?? 0,
    events: row.events,
    oldestEventSeconds: Math.max(row.oldest_event ?? 0, 0),
    hosts: row.hosts,
    slots: row.slots,
    projectsAtCap: row.capped,
    missingWorkflows: row.missing_workflows,
    storedBytes: row.stored,
    projectsAtStorageQuota: row.over_storage,
    spentBudgets: row.spent_budgets,
  };
}

const ageOf = (moment: string): string =>
  `extract(epoch from db_clock() - ${moment})::double precision`;

/**
 * Reads only runs that occupy slots, because that is indexed, and sessions sleep for weeks. Those
 * that are asleep are the other open ones. One statement, so that the numbers are consistent.
 */
const countStatement = `
  with live as materialized (
    select r.project_id, r.host_id, r.created_at, r.started_at, r.session_id is not null as is_session
    from runs r where occupies_slot(r)
  ),
  run_numbers as (
    select json_build_object(
             'waiting', count(*) filter (where not is_session and host_id is null),
             'starting', count(*) filter (
               where not is_session and host_id is not null and started_at is null),
             'running', count(*) filter (where not is_session and started_at is not null),
             'awake', count(*) filter (where is_session),
             'asleep', greatest(
               (select coalesce(sum(count), 0) from open_sessions)
                 - count(*) filter (where is_session), 0)) as runs,
           ${ageOf('min(created_at) filter (where not is_session and started_at is null)')}
             as oldest_run
    from live
  ),
  message_numbers as (
    select count(*) as messages, ${ageOf('min(created_at)')} as oldest_message
    from session_messages where ended_at is null and started_at is null
  ),
  webhook_numbers as (
    select count(*) as webhooks, ${ageOf('min(ended_at)')} as oldest_webhook
    from runs where webhook_state = 'pending'
  ),
  event_numbers as (
    select count(*) as events, ${ageOf('min(start_at)')} as oldest_event
    from webhook_events where state = 'pending'
  ),
  host_slots as (
    select h.draining, h.disk_short, is_live(h, db_clock() - $1::interval) as is_live, h.capacity,
           (select count(*) from live l where l.host_id = h.id) as occupied
    from hosts h
  ),
  host_numbers as (
    select json_build_object(
             'live', count(*) filter (where is_live and not draining and not disk_short),
             'draining', count(*) filter (where is_live and draining),
             'disk_short', count(*) filter (where is_live and not draining and disk_short),
             'stale', count(*) filter (where not is_live)) as hosts,
           json_build_object(
             'free', coalesce(sum(greatest(capacity - occupied, 0))
               filter (where is_live and not draining and not disk_short), 0),
             'occupied', coalesce(sum(occupied), 0)) as slots
    from host_slots
  ),
  capped as (
    select p.id from live l join projects p on p.id = l.project_id
    group by p.id, p.max_concurrent_runs
    having count(*) >= p.max_concurrent_runs
  ),
  stored as (
    select project_id, kind, sum(bytes) as bytes from (
      select * from stored_bytes union all select * from stored_bytes_changes
    ) s
    group by project_id, kind
  ),
  stored_numbers as (
    select json_build_object(
             'files', coalesce(sum(bytes) filter (where kind = 'files'), 0),
             'transcripts', coalesce(sum(bytes) filter (where kind = 'transcripts'), 0),
             'logs', coalesce(sum(bytes) filter (where kind = 'logs'), 0),
             'messages', coalesce(sum(bytes) filter (where kind = 'messages'), 0)) as stored
    from stored
  ),
  over_storage as (
    select p.id from stored s join projects p on p.id = s.project_id
    group by p.id, p.storage_quota_bytes having sum(s.bytes) >= p.storage_quota_bytes
  ),
  budget_numbers as (
    select json_build_object(
             '80', count(*) filter (where percent = 80),
             '100', count(*) filter (where percent = 100)) as spent_budgets
    from passed_thresholds t
    where t.month = (select date_trunc('month', db_clock() at time zone 'UTC')::date)
      and t.budget_usd >= case t.owner
        when 'project' then (select monthly_budget_usd from projects where id = t.owner_id)
        when 'flow' then (select monthly_budget_usd from flows where id = t.owner_id::uuid)
        else (select monthly_budget_usd from api_keys where id = t.owner_id::uuid)
      end
  )
  select run_numbers.*, message_numbers.*, webhook_numbers.*, event_numbers.*,
         host_numbers.*,
         (select count(*) from capped) as capped,
         (select stored from stored_numbers) as stored,
         (select count(*) from over_storage) as over_storage,
         (select spent_budgets from budget_numbers) as spent_budgets,
         coalesce((select missing_workflows from temporal_identity), 0) as missing_workflows
  from run_numbers, message_numbers, webhook_numbers, event_numbers, host_numbers`;
