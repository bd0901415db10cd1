-- Up Migration

-- A session's run is awake from the transaction that stores a message for it until the one that
-- puts it to sleep; its status says no more than whether a sandbox is up.
alter table runs add column awake boolean not null default false;

create or replace function takes_place(run runs) returns boolean language sql immutable as $$
  select run.ended_at is null and (run.session_id is null or run.awake)
$$;

create table sessions (
  run_id uuid primary key references runs,
  flow_id uuid not null references flows,
  session_id text not null,
  -- JSON text, sealed; kept for the session's life and forgotten at its end
  config_sealed bytea,
  -- grows with every change
  config_version integer not null default 1,
  -- of the sandbox that was started last: its number, and the configuration that it got
  started_generation integer not null default 0,
  started_config_version integer not null default 0,
  -- of the last sandbox that has fetched its configuration
  acknowledged_generation integer not null default 0,
  -- the agent's running total, which goes on with its conversation
  cost_so_far_usd double precision not null default 0,
  last_host_id text,
  -- what was given later is not in what was stored then
  saved_at timestamptz,
  last_message_at timestamptz,
  -- since when there has been nothing to do
  idle_since timestamptz not null default db_clock(),
  unique (flow_id, session_id)
);

create table session_messages (
  id uuid primary key,
  run_id uuid not null references sessions,
  position bigint not null,
  client_message_id text,
  text text not null,
  created_at timestamptz not null default db_clock(),
  -- when the session's workflow was told
  signalled_at timestamptz,
  -- the sandbox that had it last, and how many have had it
  generation integer,
  attempts integer not null default 0,
  started_at timestamptz,
  -- whether that sandbox's agent has begun to work on it
  accepted boolean not null default false,
  ended_at timestamptz,
  exit_code integer,
  reply text,
  usage text,
  cost_usd double precision,
  unique (run_id, position),
  unique (run_id, client_message_id)
);
create index session_messages_left on session_messages (run_id, position) where ended_at is null;
create index session_messages_unsignalled on session_messages (created_at)
  where ended_at is null and signalled_at is null;

-- The agent's own conversation as it was stored last, apart from the working directory.
create table session_transcripts (
  run_id uuid not null references sessions,
  path text collate "C" not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  modified_at timestamptz not null,
  primary key (run_id, path)
);
create index session_transcripts_of_blob on session_transcripts (sha256);

create function session_has_work(p_run_id uuid) returns boolean language sql stable as $$
  select exists (select from session_messages m where m.run_id = p_run_id and m.ended_at is null)
$$;

-- Stores a message. One that finds its session asleep takes one of the project's places first; the
-- host is chosen when the sandbox is made. Locks as admission does: the project, then the run.
create function store_message(
  p_run_id uuid,
  p_message_id uuid,
  p_client_message_id text,
  p_text text,
  p_queue_max integer,
  p_host_unseen interval
)
returns table (outcome text, message_id uuid, "position" integer, "limit" integer, current integer)
language plpgsql volatile as $$
declare
  project projects;
  run runs;
  flow flows;
  known session_messages;
begin
  select p.* into project from projects p join runs r on r.project_id = p.id
    where r.id = p_run_id for no key update of p;
  select * into run from runs r where r.id = p_run_id for no key update;
  if not found or run.end_cause is not null or run.deleted_at is not null then
    outcome := 'gone';
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

  select count(*) into current from session_messages m
    where m.run_id = p_run_id and m.ended_at is null and m.attempts = 0;
  if current >= p_queue_max then
    outcome := 'QUEUE_FULL';
    "limit" := p_queue_max;
    return next;
    return;
  end if;

  if not run.awake then
    select * into flow from flows f where f.id = run.flow_id;
    if flow.runner is not null and not exists (
      select from hosts h where h.id = flow.runner and h.last_seen > db_clock() - p_host_unseen
    ) then
      outcome := 'RUNNER_OFFLINE';
      current := null;
      return next;
      return;
    end if;
    select count(*) into current from runs r
      where r.project_id = run.project_id and takes_place(r);
    if current >= project.max_concurrent_runs then
      outcome := 'CONCURRENT_LIMIT';
      "limit" := project.max_concurrent_runs;
      return next;
      return;
    end if;
    update runs r set awake = true, host_id = null where r.id = p_run_id;
  end if;

  select count(*) into "position" from session_messages m
    where m.run_id = p_run_id and m.ended_at is null;
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

-- The next sandbox of a session: which one, and where. `p_after` is the last one that its workflow
-- knows to be over, so a second call finds what the first has settled.
create function claim_session_place(p_run_id uuid, p_after integer, p_host_unseen interval)
returns table (outcome text, host_id text, generation integer)
language plpgsql volatile as $$
declare
  run runs;
  pinned text;
  last_host text;
begin
  perform from projects p where p.id = (select r.project_id from runs r where r.id = p_run_id)
    for no key update;
  perform lock_placement();
  select * into run from runs r where r.id = p_run_id for no key update;
  if run.end_cause is not null then
    outcome := 'over';
    return next;
    return;
  end if;
  if not session_has_work(p_run_id) then
    update runs r set awake = false, status = 'sleep', host_id = null where r.id = p_run_id;
    outcome := 'asleep';
    return next;
    return;
  end if;
  if not run.awake or run.host_id is null or run.generation <= p_after then
    update runs r
      set awake = true, host_id = null, generation = greatest(r.generation, p_after + 1)
      where r.id = p_run_id returning r.* into run;
    select f.runner into pinned from flows f where f.id = run.flow_id;
    select s.last_host_id into last_host from sessions s where s.run_id = p_run_id;
    if last_host is not null and (pinned is null or pinned = last_host) then
      run.host_id := pick_host(last_host, p_host_unseen, db_clock());
    end if;
    run.host_id := coalesce(run.host_id, pick_host(pinned, p_host_unseen, db_clock()));
    update runs r set host_id = run.host_id where r.id = p_run_id;
    update sessions s set last_host_id = coalesce(run.host_id, s.last_host_id)
      where s.run_id = p_run_id;
  end if;
  outcome := case when run.host_id is null then 'full' else 'placed' end;
  host_id := run.host_id;
  generation := run.generation;
  return next;
end
$$;

-- Adds a frame of the service's own; call with the cursor locked.
create function append_own_frame(p_run_id uuid, p_event text, p_data text) returns bigint
language plpgsql volatile as $$
declare
  next_seq bigint;
begin
  update cursors c set last_seq = c.last_seq + 1 where c.run_id = p_run_id
    returning c.last_seq into next_seq;
  insert into frames (run_id, seq, at, event, channel, data)
    values (p_run_id, next_seq, db_clock(), p_event, 'chat', p_data);
  return next_seq;
end
$$;

-- Gives messages up, each with a `turn_end` of its own: all that are left, or those that were given
-- to sandboxes before as often as one may be. Call with the cursor locked. Returns how many.
create function fail_turns(p_run_id uuid, p_tries_max integer) returns integer
language plpgsql volatile as $$
declare
  message session_messages;
  failed integer := 0;
begin
  for message in
    select * from session_messages m
    where m.run_id = p_run_id and m.ended_at is null
      and (p_tries_max is null or m.attempts >= p_tries_max)
    order by m.position
  loop
    perform append_own_frame(p_run_id, 'turn_end', json_build_object(
      'exitCode', 1,
      'sessionId', (select s.session_id from sessions s where s.run_id = p_run_id),
      'messageId', message.id
    )::text);
    update session_messages m set ended_at = db_clock(), exit_code = 1 where m.id = message.id;
    failed := failed + 1;
  end loop;
  if failed > 0 then
    update runs r set agent_status = 'error' where r.id = p_run_id;
    update sessions s set idle_since = db_clock() where s.run_id = p_run_id;
  end if;
  return failed;
end
$$;

-- Gives a sandbox the session's oldest message. The one that it has already is given again, so that
-- whoever asks for it may have died meanwhile. One that was given to other sandboxes as often as
-- one may be fails instead.
create function claim_turn(
  p_run_id uuid,
  p_generation integer,
  p_token bigint,
  p_tries_max integer
)
returns table (
  outcome text, message_id uuid, message text, accepted boolean, started_at timestamptz, seq bigint,
  at timestamptz, data text
)
language plpgsql volatile as $$
declare
  run runs;
  session sessions;
  oldest session_messages;
begin
  perform from cursors c
    where c.run_id = p_run_id and c.lease_token = p_token and not c.closed for update;
  select * into run from runs r where r.id = p_run_id;
  if not found or run.generation <> p_generation or run.end_cause is not null then
    outcome := 'over';
    return next;
    return;
  end if;
  select * into oldest from session_messages m
    where m.run_id = p_run_id and m.ended_at is null order by m.position limit 1;
  if oldest.generation is distinct from p_generation and oldest.attempts >= p_tries_max then
    perform fail_turns(p_run_id, p_tries_max);
    select * into oldest from session_messages m
      where m.run_id = p_run_id and m.ended_at is null order by m.position limit 1;
  end if;
  if oldest.id is null then
    outcome := 'none';
    return next;
    return;
  end if;

  outcome := 'turn';
  if oldest.generation is distinct from p_generation then
    select * into session from sessions s where s.run_id = p_run_id;
    if session.acknowledged_generation >= p_generation
      and session.started_config_version < session.config_version
    then
      outcome := 'reconfigure';
      return next;
      return;
    end if;
    if oldest.attempts = 0 then
      data := json_build_object('messageId', oldest.id, 'text', oldest.text)::text;
      seq := append_own_frame(p_run_id, 'user_message', data);
      at := db_clock();
    end if;
    update session_messages m
      set generation = p_generation, attempts = m.attempts + 1, started_at = db_clock(),
          accepted = false
      where m.id = oldest.id returning m.* into oldest;
  end if;
  message_id := oldest.id;
  message := oldest.text;
  accepted := oldest.accepted;
  started_at := oldest.started_at;
  return next;
end
$$;

-- A sandbox of a session is over, and what it left is stored. The place is given back unless there
-- is work left. Every writer of a log takes its cursor before its run; so does this.
create function session_sandbox_gone(p_run_id uuid, p_generation integer, p_tries_max integer)
returns boolean language plpgsql volatile as $$
declare
  run runs;
begin
  perform from cursors c where c.run_id = p_run_id for update;
  select * into run from runs r where r.id = p_run_id for no key update;
  if run.generation <> p_generation or run.ended_at is not null then
    return false;
  end if;
  update cursors c set lease_owner = null, lease_expires_at = null
    where c.run_id = p_run_id and c.generation = p_generation;
  perform fail_turns(p_run_id, p_tries_max);
  update interactions i set outcome = 'withdrawn' where i.run_id = p_run_id and i.outcome is null;
  update runs r set status = 'sleep', host_id = null, awake = session_has_work(p_run_id)
    where r.id = p_run_id;
  return true;
end
$$;
