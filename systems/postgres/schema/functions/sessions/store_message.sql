-- Stores a message. If the session is asleep, it first claims a slot of the project; the host is
-- chosen when the sandbox is started. Locks in the order of admission: the project, then the run.
-- Only the claim of a slot needs the project, so that messages to sessions with a slot do not wait
-- for each other. If such a session releases its slot before its run is locked, the outcome is
-- `released`, nothing is stored, and the caller repeats the call with `p_locks_project`.
-- `is_asleep`: the session has no sandbox and does not wait for one yet.
create or replace function store_message(
  p_run_id uuid,
  p_message_id uuid,
  p_client_message_id text,
  p_text text,
  p_queue_max integer,
  p_stale_after interval,
  p_checks_storage boolean,
  p_postgres_disk_is_short boolean,
  p_locks_project boolean
)
returns table (
  outcome text, message_id uuid, "position" integer, "limit" double precision,
  current double precision, budget text, is_asleep boolean
)
language plpgsql volatile as $$
declare
  project projects;
  may_claim_slot boolean;
  run runs;
  flow flows;
  known session_messages;
begin
  perform assert_read_committed();
  select * into run from runs r where r.id = p_run_id;
  may_claim_slot := p_locks_project or not run.holds_slot;
  if may_claim_slot then
    select * into project from projects p where p.id = run.project_id for no key update;
  end if;
  select * into run from runs r where r.id = p_run_id for no key update;
  if not found or run.end_cause is not null or run.deleted_at is not null then
    outcome := 'gone';
    return next;
    return;
  end if;
  if not may_claim_slot and not run.holds_slot then
    outcome := 'released';
    return next;
    return;
  end if;

  select * into known from session_messages m
    where m.run_id = p_run_id and m.client_message_id = p_client_message_id;
  if known.id is not null then
    outcome := 'known';
    message_id := known.id;
    select count(*) into "position" from session_messages m
      where m.run_id = p_run_id and m.ended_at is null and m.position < known.position;
    return next;
    return;
  end if;

  if exists (
    select from projects p where p.id = run.project_id and p.archived_at is not null
  ) then
    outcome := 'PROJECT_ARCHIVED';
    return next;
    return;
  end if;
  -- The flow was archived after the request was authenticated.
  if exists (select from flows f where f.id = run.flow_id and f.archived_at is not null) then
    outcome := 'FLOW_ARCHIVED';
    return next;
    return;
  end if;
  if p_postgres_disk_is_short then
    outcome := 'POSTGRES_DISK_SHORT';
    return next;
    return;
  end if;
  if p_checks_storage then
    select o."limit", o.current into "limit", current from storage_over_quota(run.project_id) o;
    if found then
      outcome := 'STORAGE_QUOTA';
      return next;
      return;
    end if;
  end if;

  select count(*) into current from session_messages m
    where m.run_id = p_run_id and m.ended_at is null and m.delivery_attempts = 0;
  if current >= p_queue_max then
    outcome := 'QUEUE_FULL';
    "limit" := p_queue_max;
    return next;
    return;
  end if;

  if not run.holds_slot then
    select * into flow from flows f where f.id = run.flow_id;
    if flow.runner is not null and not exists (
      select from hosts h where h.id = flow.runner and is_live(h, db_clock() - p_stale_after)
    ) then
      outcome := 'RUNNER_OFFLINE';
      current := null;
      return next;
      return;
    end if;
    select count(*) into current from runs r
      where r.project_id = run.project_id and occupies_slot(r);
    if current >= project.max_concurrent_runs then
      outcome := 'CONCURRENT_LIMIT';
      "limit" := project.max_concurrent_runs;
      return next;
      return;
    end if;
  end if;

  select b."limit", b.current, b.owner into "limit", current, budget
  from monthly_budgets(run.project_id, run.flow_id, run.key_id) b
  where b.current >= b."limit" order by b."position" limit 1;
  if found then
    outcome := 'BUDGET_REACHED';
    return next;
    return;
  end if;

  is_asleep := not run.holds_slot or run.host_id is null and run.waiting_since is null;
  if not run.holds_slot then
    update runs r set holds_slot = true, host_id = null, waiting_since = null
      where r.id = p_run_id;
  end if;

  select count(*) into "position" from session_messages m
    where m.run_id = p_run_id and m.ended_at is null;
  insert into stored_bytes_changes (project_id, kind, bytes)
  values (run.project_id, 'messages', octet_length(p_text));
  insert into session_messages (id, run_id, position, client_message_id, text)
  select p_message_id, p_run_id, coalesce(max(m.position), 0) + 1, p_client_message_id, p_text
  from session_messages m where m.run_id = p_run_id;
  update sessions s set last_message_at = db_clock() where s.run_id = p_run_id;
  outcome := 'stored';
  message_id := p_message_id;
  current := null;
  return next;
end
$$;
