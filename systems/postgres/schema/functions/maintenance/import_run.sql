-- Inserts a run that only Temporal has, because it was started after the backup that the database
-- was restored from. The run counts as ended, and requests with its idempotency key return it. Does
-- nothing if the project or the flow is not in the database either: no client can ask for the run
-- then. Returns whether the run was inserted.
create or replace function import_run(
  p_workflow_id text,
  p_run_id uuid,
  p_flow_id uuid,
  p_project_id text,
  p_trigger_type text,
  p_session_id text,
  p_timeout_seconds integer,
  p_started_at timestamptz,
  p_closed_at timestamptz,
  p_idempotency_window interval
)
returns boolean language plpgsql volatile as $$
declare
  -- the key and the start of its window, from run_workflow_id; null if the run has no key
  keyed text[] := regexp_match(p_workflow_id, '^run/[^/]+/(.+)/([^/]+)$');
  admitted_at timestamptz := coalesce(keyed[2]::timestamptz, p_started_at);
begin
  perform from projects p where p.id = p_project_id for no key update;
  if exists (
    select from sessions s where s.flow_id = p_flow_id and s.session_id = p_session_id
  ) then
    return false;
  end if;

  insert into runs (
    id, flow_id, project_id, session_id, trigger_type, prompt, key_name, key_created_by,
    timeout_seconds, files_version, created_at, workflow_id, workflow_started_at, status, end_cause,
    end_detail, end_cause_at, ended_at
  )
  select
    p_run_id, f.id, p_project_id, p_session_id, p_trigger_type, '', 'unknown', 'unknown',
    p_timeout_seconds, f.files_version, admitted_at, p_workflow_id, p_started_at, 'sleep',
    'lost_in_restore', 'it was started after the backup that the database was restored from',
    db_clock(), greatest(coalesce(p_closed_at, db_clock()), admitted_at)
  from flows f where f.id = p_flow_id and f.project_id = p_project_id
  on conflict do nothing;
  if not found then
    return false;
  end if;
  insert into run_logs (run_id, is_final) values (p_run_id, true);

  if p_session_id is not null then
    insert into sessions (run_id, flow_id, session_id)
    values (p_run_id, p_flow_id, p_session_id);
  elsif p_trigger_type = 'api' then
    insert into monthly_runs as m (project_id, month, admitted)
    values (p_project_id, date_trunc('month', admitted_at at time zone 'UTC'), 1)
    on conflict (project_id, month) do update set admitted = m.admitted + 1;
  end if;
  -- An expired key is deleted by retention like any other.
  if keyed is not null then
    insert into idempotency_keys as k (project_id, key, run_id, window_start, expires_at)
    values (p_project_id, keyed[1], p_run_id, admitted_at, admitted_at + p_idempotency_window)
    on conflict (project_id, key) do update
      set run_id = excluded.run_id,
          window_start = excluded.window_start,
          expires_at = excluded.expires_at
      where k.window_start < excluded.window_start;
  end if;
  return true;
end
$$;
