-- Admits a run, or says why not. `request` has the run's columns by name, and the fields declared
-- first below. Every statement has its own snapshot, taken after the preceding lock was granted.
-- The locks are taken in the order of all callers: the project, the flow, placement. Without
-- `places_run` the run gets no host; a transaction with further statements calls claim_slot after
-- its commit.
create or replace function admit_run(request jsonb)
returns table (
  outcome text, reason text, "limit" double precision, current double precision, budget text,
  last_seq bigint, run runs
)
language plpgsql volatile as $$
declare
  idempotency_key constant text := request ->> 'idempotency_key';
  idempotency_window constant interval := request ->> 'idempotency_window';
  host_stale_after constant interval := request ->> 'host_stale_after';
  merges_mcp_servers constant boolean := request ->> 'merges_mcp_servers';
  supplies_files constant boolean := request ->> 'supplies_files';
  places_run constant boolean := request ->> 'places_run';
  checks_storage constant boolean := request ->> 'checks_storage';
  postgres_disk_is_short constant boolean := request ->> 'postgres_disk_is_short';
  config_sealed constant bytea := request ->> 'config_sealed';
  parent_run_id constant uuid := request ->> 'parent_run_id';
  depth_max constant integer := request ->> 'depth_max';
  input runs := jsonb_populate_record(null::runs, request);
  project projects;
  flow flows;
  at timestamptz;
  this_month date;
  is_reconciling boolean;
  lacks_inputs boolean;
  picked_host text;
  parent runs;
begin
  perform assert_read_committed();
  select * into project from projects p where p.id = input.project_id for no key update;
  if not found then
    raise exception 'no project %', input.project_id using errcode = 'no_data_found';
  end if;
  at := db_clock();
  this_month := date_trunc('month', at at time zone 'UTC');

  -- Read before the key is looked up: if reconciling ends in between, the lost run is found below.
  is_reconciling := may_have_lost_runs(host_stale_after);
  if idempotency_key is not null then
    select r.* into run
    from idempotency_keys k join runs r on r.id = k.run_id
    where k.project_id = input.project_id and k.key = workflow_key(idempotency_key)
      and k.expires_at > at;
    if run.id is not null then
      outcome := 'replay';
      select l.last_seq into last_seq from run_logs l where l.run_id = run.id;
      return next;
      return;
    end if;
    -- An expired key is replaced below, and nothing waits for a lock after placement is locked.
    perform from idempotency_keys k
      where k.project_id = input.project_id and k.key = workflow_key(idempotency_key)
      for no key update;
  end if;

  outcome := 'rejected';
  if project.archived_at is not null then
    reason := 'PROJECT_ARCHIVED';
    return next;
    return;
  end if;
  if postgres_disk_is_short then
    reason := 'POSTGRES_DISK_SHORT';
    return next;
    return;
  end if;
  -- The lock keeps retention from deleting files that are copied below.
  select o.has_purged_inputs into lacks_inputs from runs o where o.id = input.retry_of for share;
  if lacks_inputs and not supplies_files then
    reason := 'INPUT_FILES_PURGED';
    return next;
    return;
  end if;
  if is_reconciling and (idempotency_key is not null or input.trigger_type = 'schedule') then
    reason := 'UPSTREAM_UNAVAILABLE';
    return next;
    return;
  end if;
  select * into flow from flows f where f.id = input.flow_id and f.project_id = input.project_id;
  if not found then
    raise exception 'no flow % in project %', input.flow_id, input.project_id
      using errcode = 'no_data_found';
  end if;
  if flow.archived_at is not null then
    reason := 'FLOW_ARCHIVED';
    return next;
    return;
  end if;
  if flow.runner is not null and not exists (
    select from hosts h where h.id = flow.runner and is_live(h, at - host_stale_after)
  ) then
    reason := 'RUNNER_OFFLINE';
    return next;
    return;
  end if;

  if parent_run_id is not null then
    select r.* into parent from runs r
      where r.id = parent_run_id and r.project_id = project.id and r.end_cause is null;
    if not found then
      reason := 'PARENT_ENDED';
      return next;
      return;
    end if;
    input.ancestor_ids := parent.ancestor_ids || parent.id;
    select t.reason, t."limit", t.current into reason, "limit", current
      from reached_tree_limit(input.ancestor_ids, depth_max) t;
    if reason is not null then
      return next;
      return;
    end if;
  else
    input.ancestor_ids := '{}';
  end if;

  if checks_storage then
    select o."limit", o.current into "limit", current from storage_over_quota(project.id) o;
    if found then
      reason := 'STORAGE_QUOTA';
      return next;
      return;
    end if;
  end if;

  select count(*) into current
  from runs r where r.project_id = input.project_id and occupies_slot(r);
  if current >= project.max_concurrent_runs then
    reason := 'CONCURRENT_LIMIT';
    "limit" := project.max_concurrent_runs;
    return next;
    return;
  end if;

  if input.trigger_type = 'api' then
    select coalesce(max(m.admitted), 0) into current
    from monthly_runs m where m.project_id = input.project_id and m.month = this_month;
    if current >= project.monthly_run_quota then
      reason := 'MONTHLY_QUOTA';
      "limit" := project.monthly_run_quota;
      return next;
      return;
    end if;
  end if;
  select b."limit", b.current, b.owner into "limit", current, budget
  from monthly_budgets(project.id, flow.id, input.key_id) b
  where b.current >= b."limit" order by b."position" limit 1;
  if found then
    reason := 'BUDGET_REACHED';
    return next;
    return;
  end if;
  if input.trigger_type = 'api' then
    insert into monthly_runs as m (project_id, month, admitted)
    values (input.project_id, this_month, 1)
    on conflict (project_id, month) do update set admitted = m.admitted + 1;
  end if;

  -- Waits for a change of the flow's files, so that it removes no version that this run needs.
  select f.files_version, f.version into input.files_version, input.flow_version
    from flows f where f.id = flow.id for share;
  input.mcp_server_names := array(
    select distinct s.name
    from unnest(
      input.mcp_server_names || case when merges_mcp_servers then offered_servers(flow) end
    ) s(name)
    order by 1
  );
  if places_run then
    perform lock_placement();
    picked_host := pick_host(project.id, flow.runner, host_stale_after, at);
  end if;
  insert into runs as r (
    id, flow_id, project_id, trigger_type, name, labels, prompt, partial_messages, callback_url,
    webhook_state, key_id, key_name, key_created_by, mcp_server_names, timeout_seconds,
    model, max_turns, max_budget_usd,
    output_schema, retry_of, ancestor_ids, secret_fields, context_sealed, request_id, files_version, flow_version,
    created_at, host_id, waiting_since,
    workflow_id
  ) values (
    input.id, flow.id, project.id, input.trigger_type, input.name, input.labels, input.prompt,
    input.partial_messages, input.callback_url,
    case when input.callback_url is null then 'none' else 'waiting' end,
    input.key_id, input.key_name, input.key_created_by, input.mcp_server_names, input.timeout_seconds,
    coalesce(input.model, flow.model), coalesce(input.max_turns, flow.max_turns),
    coalesce(input.max_budget_usd, flow.max_budget_usd),
    input.output_schema, input.retry_of, input.ancestor_ids, input.secret_fields, input.context_sealed, input.request_id,
    input.files_version, input.flow_version, at,
    picked_host, case when places_run and picked_host is null then at end,
    run_workflow_id(project.id, input.id, idempotency_key, at)
  ) returning r.* into run;
  insert into stored_bytes_changes (project_id, kind, bytes)
  values (project.id, 'messages', octet_length(run.prompt));
  insert into run_logs (run_id) values (run.id);
  insert into run_configs (run_id, sealed) values (run.id, config_sealed);

  -- Files of the retried run that the flow does not have. The request's own files are added after
  -- this and replace those with the same path.
  if run.retry_of is not null then
    insert into input_files (run_id, path, sha256, size, mode, scope, modified_at)
    select run.id, i.path, i.sha256, i.size, i.mode, i.scope, i.modified_at
    from input_files i where i.run_id = run.retry_of and i.scope = 'run';
  end if;

  if idempotency_key is not null then
    insert into idempotency_keys (project_id, key, run_id, window_start, expires_at)
    values (project.id, workflow_key(idempotency_key), run.id, at, at + idempotency_window)
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
