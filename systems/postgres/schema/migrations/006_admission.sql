-- Up Migration

-- Admission and placement. Every statement below has a snapshot of its own, taken after the lock
-- before it was granted: counting in the statement that waits for the lock would count the past.
-- Whoever takes a place takes the same locks in the same order: the project's row, then placement.

create function lock_placement() returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('placement', 0))
$$;

-- Call with the placement lock held. Null when no host has a free place. In plpgsql because that
-- keeps its plan, which takes longer to make than to run.
create function pick_host(runner text, unseen interval, at timestamptz) returns text
language plpgsql volatile as $$
begin
  return (
    select h.id
    from hosts h
    cross join lateral (
      select h.capacity - count(*) as free from runs r where r.host_id = h.id and takes_place(r)
    ) places
    where not h.draining
      and h.last_seen > at - unseen
      and places.free > 0
      and (runner is null or h.id = runner)
    order by places.free desc, h.id
    limit 1
  );
end
$$;

-- The id of a run's workflow, made here because only this transaction knows the window. Project ids
-- hold no slash and the window comes last, so an id reads one way only and two keys never share one.
-- Ids are kept in 255 characters: a long key is its digest, and so is one that looks like a digest.
create function run_workflow_id(project_id text, run_id uuid, key text, window_start timestamptz)
returns text language sql stable as $$
  select case
    when key is null then 'run/' || run_id
    else 'run/' || project_id || '/' || case
        when length(key) <= 100 and not starts_with(key, 'sha256:') then key
        else 'sha256:' || encode(sha256(convert_to(key, 'UTF8')), 'hex')
      end || '/' || to_char(window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end
$$;

create function admit_run(
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
  p_idempotency_key text,
  p_config_sealed bytea,
  p_window interval,
  p_host_unseen interval
)
returns table (outcome text, reason text, "limit" integer, current integer, last_seq bigint, run runs)
language plpgsql volatile as $$
declare
  project projects;
  flow flows;
  at timestamptz;
  this_month date;
begin
  select * into project from projects where id = p_project_id for no key update;
  if not found then
    raise exception 'no project %', p_project_id using errcode = 'no_data_found';
  end if;
  at := db_clock();
  this_month := date_trunc('month', at at time zone 'UTC');

  if p_idempotency_key is not null then
    select r.* into run
    from idempotency_keys k join runs r on r.id = k.run_id
    where k.project_id = p_project_id and k.key = p_idempotency_key and k.expires_at > at;
    if run.id is not null then
      outcome := 'replay';
      select c.last_seq into last_seq from cursors c where c.run_id = run.id;
      return next;
      return;
    end if;
  end if;

  outcome := 'refused';
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
    webhook_state, key_id, key_name, key_created_by, mcp_server_names, timeout_seconds, created_at,
    host_id, workflow_id
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
    p_timeout_seconds, at, pick_host(flow.runner, p_host_unseen, at),
    run_workflow_id(p_project_id, p_run_id, p_idempotency_key, at)
  ) returning r.* into run;
  insert into cursors (run_id) values (p_run_id);
  insert into run_configs (run_id, sealed) values (p_run_id, p_config_sealed);
  if p_idempotency_key is not null then
    insert into idempotency_keys (project_id, key, run_id, window_start, expires_at)
    values (p_project_id, p_idempotency_key, p_run_id, at, at + p_window)
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

-- For a run that was admitted while every host was full. Returns the host it has already, if any.
create function claim_place(p_run_id uuid, p_host_unseen interval) returns text
language plpgsql volatile as $$
declare
  run runs;
  pinned text;
begin
  perform from projects where id = (select r.project_id from runs r where r.id = p_run_id)
    for no key update;
  perform lock_placement();
  select * into run from runs where id = p_run_id for no key update;
  if run.host_id is not null or run.ended_at is not null then
    return run.host_id;
  end if;
  select f.runner into pinned from flows f where f.id = run.flow_id;
  update runs set host_id = pick_host(pinned, p_host_unseen, db_clock())
    where id = p_run_id returning host_id into run.host_id;
  return run.host_id;
end
$$;
