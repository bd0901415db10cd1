-- Up Migration

-- A run that was begun after the backup which the database was restored from is known to Temporal
-- alone. It gets a row there as a run that has ended, with its idempotency key, so that a repeat is
-- answered with it; and until that is done for all of them, nobody who repeats is answered at all.

-- A key as it stands in the id of its run's workflow, which is all that Temporal knows of it.
create function kept_key(key text) returns text language sql stable as $$
  select case
    when length(key) <= 100 and not starts_with(key, 'sha256:') then key
    else 'sha256:' || encode(sha256(convert_to(key, 'UTF8')), 'hex')
  end
$$;

create or replace function run_workflow_id(
  project_id text, run_id uuid, key text, window_start timestamptz
)
returns text language sql stable as $$
  select case
    when key is null then 'run/' || run_id
    else 'run/' || project_id || '/' || kept_key(key) || '/'
      || to_char(window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end
$$;

update idempotency_keys set key = kept_key(key) where key <> kept_key(key);

create or replace function admit_run(
  p_run_id uuid,
  p_flow_id uuid,
  p_project_id text,
  p_trigger_type text,
  p_name text,
  p_labels text,
  p_prompt text,
  p_partial_messages boolean,
  p_callback_url text,
  p_key_id uuid,
  p_key_name text,
  p_key_created_by text,
  p_mcp_server_names text[],
  p_mcp_merge boolean,
  p_timeout_seconds integer,
  p_model text,
  p_max_turns integer,
  p_max_budget_usd double precision,
  p_output_schema text,
  p_retry_of uuid,
  p_config_fields text[],
  p_context_sealed bytea,
  p_idempotency_key text,
  p_config_sealed bytea,
  p_window interval,
  p_host_unseen interval,
  -- processes of an earlier version ask without it
  p_request_id text default null
)
returns table (outcome text, reason text, "limit" integer, current integer, last_seq bigint, run runs)
language plpgsql volatile as $$
declare
  project projects;
  flow flows;
  at timestamptz;
  this_month date;
  is_unsettled boolean;
begin
  select * into project from projects where id = p_project_id for no key update;
  if not found then
    raise exception 'no project %', p_project_id using errcode = 'no_data_found';
  end if;
  at := db_clock();
  this_month := date_trunc('month', at at time zone 'UTC');

  -- Looked at first: a run that is found missing after that, no restoration has lost.
  is_unsettled := exists (select from restorations where settled_at is null);
  if p_idempotency_key is not null then
    select r.* into run
    from idempotency_keys k join runs r on r.id = k.run_id
    where k.project_id = p_project_id and k.key = kept_key(p_idempotency_key) and k.expires_at > at;
    if run.id is not null then
      outcome := 'replay';
      select c.last_seq into last_seq from cursors c where c.run_id = run.id;
      return next;
      return;
    end if;
  end if;

  outcome := 'refused';
  if is_unsettled and (p_idempotency_key is not null or p_trigger_type = 'schedule') then
    reason := 'UPSTREAM_UNAVAILABLE';
    return next;
    return;
  end if;
  select * into flow from flows where id = p_flow_id and project_id = p_project_id;
  if not found then
    raise exception 'no flow % in project %', p_flow_id, p_project_id using errcode = 'no_data_found';
  end if;
  if flow.runner is not null and not exists (
    select from hosts h where h.id = flow.runner and h.last_seen > at - p_host_unseen
  ) then
    reason := 'RUNNER_OFFLINE';
    return next;
    return;
  end if;

  select count(*) into current from runs r where r.project_id = p_project_id and takes_place(r);
  if current >= project.max_concurrent_runs then
    reason := 'CONCURRENT_LIMIT';
    "limit" := project.max_concurrent_runs;
    return next;
    return;
  end if;

  if p_trigger_type = 'api' then
    select coalesce(max(m.admitted), 0) into current
    from monthly_runs m where m.project_id = p_project_id and m.month = this_month;
    if current >= project.monthly_run_quota then
      reason := 'MONTHLY_QUOTA';
      "limit" := project.monthly_run_quota;
      return next;
      return;
    end if;
    insert into monthly_runs as m (project_id, month, admitted) values (p_project_id, this_month, 1)
    on conflict (project_id, month) do update set admitted = m.admitted + 1;
  end if;

  perform lock_placement();
  insert into runs as r (
    id, flow_id, project_id, trigger_type, name, labels, prompt, partial_messages, callback_url,
    webhook_state, key_id, key_name, key_created_by, mcp_server_names, timeout_seconds, model,
    max_turns, max_budget_usd, output_schema, retry_of, config_fields, context_sealed, request_id,
    created_at, host_id, workflow_id
  ) values (
    p_run_id, p_flow_id, p_project_id, p_trigger_type, p_name, p_labels, p_prompt,
    p_partial_messages, p_callback_url,
    case when p_callback_url is null then 'none' else 'waiting' end,
    p_key_id, p_key_name, p_key_created_by,
    array(
      select distinct s.name
      from unnest(p_mcp_server_names || case when p_mcp_merge then flow.mcp_server_names end) s(name)
      order by 1
    ),
    p_timeout_seconds, coalesce(p_model, flow.model), coalesce(p_max_turns, flow.max_turns),
    coalesce(p_max_budget_usd, flow.max_budget_usd), p_output_schema, p_retry_of, p_config_fields,
    p_context_sealed, p_request_id, at, pick_host(flow.runner, p_host_unseen, at),
    run_workflow_id(p_project_id, p_run_id, p_idempotency_key, at)
  ) returning r.* into run;
  insert into cursors (run_id) values (p_run_id);
  insert into run_configs (run_id, sealed) values (p_run_id, p_config_sealed);
  if p_idempotency_key is not null then
    insert into idempotency_keys (project_id, key, run_id, window_start, expires_at)
    values (p_project_id, kept_key(p_idempotency_key), p_run_id, at, at + p_window)
    on conflict (project_id, key) do update
      set run_id = excluded.run_id,
          window_start = excluded.window_start,
          expires_at = excluded.expires_at;
  end if;
  outcome := 'admitted';
  current := null;
  last_seq := 0;
  return next;
end
$$;

-- Where the project or the flow is not in the backup either, nobody can ask for the run, nor repeat it.
-- Returns whether it was missing and is there now.
create function adopt_lost_run(
  p_workflow_id text,
  p_run_id uuid,
  p_flow_id uuid,
  p_project_id text,
  p_trigger_type text,
  p_session_id text,
  p_timeout_seconds integer,
  p_started_at timestamptz,
  p_closed_at timestamptz,
  p_window interval
)
returns boolean language plpgsql volatile as $$
declare
  -- of run_workflow_id: the key, and the start of its window; null where the run has none
  keyed text[] := regexp_match(p_workflow_id, '^run/[^/]+/(.+)/([^/]+)$');
  admitted_at timestamptz := coalesce(keyed[2]::timestamptz, p_started_at);
begin
  perform from projects p where p.id = p_project_id for no key update;
  if not exists (select from flows f where f.id = p_flow_id and f.project_id = p_project_id)
    or exists (
      select from sessions s where s.flow_id = p_flow_id and s.session_id = p_session_id
    )
  then
    return false;
  end if;

  insert into runs (
    id, flow_id, project_id, session_id, trigger_type, prompt, key_name, key_created_by,
    timeout_seconds, created_at, workflow_id, workflow_started_at, status, end_cause, end_detail,
    end_cause_at, ended_at
  ) values (
    p_run_id, p_flow_id, p_project_id, p_session_id, p_trigger_type, '', 'unknown', 'unknown',
    p_timeout_seconds, admitted_at, p_workflow_id, p_started_at, 'sleep', 'lost_in_restore',
    'it was begun after the backup that the database was restored from', db_clock(),
    greatest(coalesce(p_closed_at, db_clock()), admitted_at)
  ) on conflict do nothing;
  if not found then
    return false;
  end if;
  insert into cursors (run_id, closed) values (p_run_id, true);

  if p_session_id is not null then
    insert into sessions (run_id, flow_id, session_id)
    values (p_run_id, p_flow_id, p_session_id);
  elsif p_trigger_type = 'api' then
    insert into monthly_runs as m (project_id, month, admitted)
    values (p_project_id, date_trunc('month', admitted_at at time zone 'UTC'), 1)
    on conflict (project_id, month) do update set admitted = m.admitted + 1;
  end if;
  -- Of one that is over, the row is swept like any other.
  if keyed is not null then
    insert into idempotency_keys as k (project_id, key, run_id, window_start, expires_at)
    values (p_project_id, keyed[1], p_run_id, admitted_at, admitted_at + p_window)
    on conflict (project_id, key) do update
      set run_id = excluded.run_id,
          window_start = excluded.window_start,
          expires_at = excluded.expires_at
      where k.window_start < excluded.window_start;
  end if;
  return true;
end
$$;
