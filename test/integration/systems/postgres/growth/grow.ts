// Data that a service collects in its first weeks: sessions that sleep, and runs that have ended.
// Nothing of it is past its retention.

import pg from 'pg';
import type { Scenario } from '../../../../support/database-records.ts';

export interface GrowthSize {
  runs: number;
  /** Open sessions without a sandbox. As many other runs are sessions that have ended. */
  sleeping: number;
  framesOfRun: number;
}

/**
 * In one project, and most in one flow, because limits and lists are those of a project or a flow.
 * The plain runs of the first week are of `oldFlowId`.
 */
export async function grow(
  url: string,
  {
    scenario: { projectId, flow },
    oldFlowId,
  }: { scenario: Scenario; oldFlowId: string | undefined },
  { runs: count, sleeping, framesOfRun }: GrowthSize,
): Promise<void> {
  const client = new pg.Client({ connectionString: url }); // without a limit of time
  await client.connect();
  try {
    await client.query('set session_replication_role = replica'); // checks no foreign key
    await client.query(runs, [flow.flowId, projectId, count, sleeping, oldFlowId]);
    await client.query(frames, [framesOfRun]);
    await client.query(logs, [framesOfRun]);
    await client.query(packedFrames, [framesOfRun]);
    for (const rows of [sessions, messages, questions, keys, attempts, ledger, usage])
      await client.query(rows);
    await client.query(spending, [projectId, flow.flowId]);
    for (const rows of [blobs, files, inputs, events]) await client.query(rows);
    await client.query('update open_sessions set count = count + $1', [sleeping]);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

const runs = `
  insert into runs (
    id, flow_id, project_id, session_id, trigger_type, labels, prompt, key_name, key_created_by,
    timeout_seconds, status, agent_status, workflow_id, created_at, workflow_started_at,
    started_at, ended_at, end_cause, end_cause_at, result, webhook_state, files_version
  )
  select
    gen_random_uuid(),
    case when n > 2 * $4 and at < now() - interval '7 days' then $5::uuid else $1::uuid end, $2,
    case when n <= 2 * $4 then 'grown-' || n end,
    case when n = $3 then 'schedule' else 'api' end,
    case when n = $3 then '{"ticket":"7"}' when n % 2 = 0 then '{"team":"a"}' else '{}' end,
    repeat('p', 300), 'ci', 'ana', 60, 'sleep', case when n % 200 = 0 then 'error' else 'idle' end,
    'grown/' || n, at, at, at, case when n > $4 then at + interval '1 minute' end,
    case when n > $4 then 'completed' end, case when n > $4 then at + interval '1 minute' end,
    repeat('r', 300), case when n % 20 = 0 and n > $4 then 'delivered' else 'none' end, n % 50
  from generate_series(1, $3::integer) n
  cross join lateral (select now() - (n * 7919 % $3) * (interval '14 days' / $3) as at) admitted`;

const logs = `
  insert into run_logs (run_id, last_seq, is_final, unpacked_since)
  select r.id, $1, r.ended_at is not null, r.ended_at from runs r
  where r.workflow_id like 'grown/%'`;

/** Beside frames of the same runs, so that both tables are large. */
const packedFrames = `
  insert into packed_frames (run_id, first_seq, last_seq, channels, data)
  select r.id, $1 + n, $1 + n, '{output}', decode(repeat('00', 2000), 'hex')
  from runs r cross join generate_series(1, 2) n
  where r.workflow_id like 'grown/%' and r.ended_at is not null`;

const frames = `
  insert into frames (run_id, seq, at, event, channel, data)
  select r.id, n, r.created_at, 'stream',
         (array['output', 'chat', 'other'])[1 + n % 3], '{"text":"' || repeat('d', 200) || '"}'
  from runs r cross join generate_series(1, $1::integer) n where r.workflow_id like 'grown/%'`;

const sessions = `
  insert into sessions (run_id, flow_id, session_id, started_generation, idle_since)
  select r.id, r.flow_id, r.session_id, 1, r.created_at from runs r
  where r.workflow_id like 'grown/%' and r.session_id is not null`;

const messages = `
  insert into session_messages (
    id, run_id, position, text, created_at, signalled_at, started_at, is_accepted, ended_at,
    exit_code, delivery_attempts, generation
  )
  select gen_random_uuid(), r.id, n, 'Hello.', r.created_at, r.created_at, r.created_at, true,
         r.created_at, 0, 1, 1
  from runs r cross join generate_series(1, 3) n
  where r.workflow_id like 'grown/%' and r.session_id is not null`;

const questions = `
  insert into interactions (run_id, id, tool_name, input, outcome)
  select r.id, 'q', 'Ask', '{}', 'answered' from runs r where r.workflow_id like 'grown/%'`;

const keys = `
  insert into idempotency_keys (project_id, key, run_id, window_start, expires_at)
  select r.project_id, r.workflow_id || '/' || n, r.id, now(), now() + interval '1 day'
  from runs r cross join generate_series(1, 2) n where r.workflow_id like 'grown/%'`;

const attempts = `
  insert into webhook_attempts (run_id, attempt, started_at, finished_at, status)
  select r.id, n, r.ended_at, r.ended_at, 500 from runs r cross join generate_series(1, 4) n
  where r.workflow_id like 'grown/%' and r.ended_at is not null`;

/** Inserts delivered events. */
const events = `
  with endpoint as (
    insert into webhook_endpoints (id, project_id, url, event_types)
    select gen_random_uuid(), p.id, 'https://e.com/', '{session.ended}' from projects p
    returning id, project_id
  )
  insert into webhook_events (endpoint_id, project_id, event, body, state)
  select e.id, e.project_id, 'session.ended', '{}', 'delivered'
  from endpoint e cross join generate_series(1, 2000)`;

const ledger = `
  insert into model_calls (
    id, run_id, project_id, flow_id, labels, model, started_at, ended_at, is_cut_off, is_estimated,
    input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
    web_searches
  )
  select gen_random_uuid(), r.id, r.project_id, r.flow_id, '{}', 'm', r.created_at, r.created_at,
         false, false, 1, 1, 0, 0, 0, 0
  from runs r cross join generate_series(1, 2) n where r.workflow_id like 'grown/%'`;

const spending = `
  with turns as (
    insert into turn_spending (
      turn_id, day, run_id, calls, unpriced_calls, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cost_nanos
    )
    select gen_random_uuid(), current_date - 14 + n / 300, gen_random_uuid(), 1, 0, 1, 1, 0, 0, 0
    from generate_series(1, 4000) n
  ),
  labels as (
    insert into daily_label_spending (
      day, project_id, label, value, calls, unpriced_calls, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, cost_nanos
    )
    select current_date - 14 + n / 300, $1, 'ticket', '"' || n || '"', 1, 0, 1, 1, 0, 0, 0
    from generate_series(1, 4000) n
  ),
  months as (
    insert into monthly_spending (project_id, owner, owner_id, month, cost_nanos)
    select $1, 'key', gen_random_uuid(), date_trunc('month', current_date), 1
    from generate_series(1, 4000)
  )
  insert into daily_spending (
    day, project_id, flow_id, model, calls, unpriced_calls, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, cost_nanos
  )
  select current_date - 14 + n / 300, $1, $2, 'm-' || n, 1, 0, 1, 1, 0, 0, 0
  from generate_series(1, 8000) n`;

/** Other keys of the project, each with its usage of four weeks. */
const usage = `
  with made as (
    insert into api_keys (id, project_id, name, created_by, shown_prefix, key_hash)
    select gen_random_uuid(), p.id, 'grown', 'ana', 'k', sha256(n::text::bytea)
    from projects p cross join generate_series(1, 200) n
    returning id
  )
  insert into key_usage (key_id, day, calls, errors, duration_ms)
  select made.id, current_date - n, 1, 0, 1 from made cross join generate_series(0, 27) n`;

const blobs = `
  insert into blobs (sha256, size, project_id)
  select sha256(n::text::bytea), 1, p.id from projects p cross join generate_series(1, 2000) n`;

const files = `
  insert into run_files (run_id, path, sha256, size, mode, modified_at)
  select r.id, 'file-' || copy, sha256((1 + r.n % 2000)::text::bytea), 1, 420, now()
  from (
    select id, row_number() over () as n from runs where workflow_id like 'grown/%'
  ) r cross join generate_series(1, 3) copy`;

const inputs = `
  insert into input_files (run_id, path, sha256, size, mode, scope, modified_at)
  select r.id, 'input', sha256('1'), 1, 420, 'run', now() from runs r
  where r.workflow_id like 'grown/%'`;
