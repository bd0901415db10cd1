-- Up Migration

-- Why the service gave a turn up, by name; null where its agent has ended it, well or not.
alter table session_messages add column error text;

drop function append_own_frame(uuid, text, text);

-- Adds a frame of the service's own; call with the cursor locked.
create function append_own_frame(
  p_run_id uuid, p_event text, p_data text, p_channel text default 'chat'
)
returns bigint language plpgsql volatile as $$
declare
  next_seq bigint;
begin
  update cursors c set last_seq = c.last_seq + 1 where c.run_id = p_run_id
    returning c.last_seq into next_seq;
  insert into frames (run_id, seq, at, event, channel, data)
    values (p_run_id, next_seq, db_clock(), p_event, p_channel, p_data);
  return next_seq;
end
$$;

drop function fail_turns(uuid, integer);

-- Gives messages up, each with a `turn_end` of its own that says why: all that are left, or those that
-- were given to sandboxes before as often as one may be. Call with the cursor locked. Returns how many.
create function fail_turns(
  p_run_id uuid, p_tries_max integer, p_error text default 'max_reconnects_exceeded'
)
returns integer language plpgsql volatile as $$
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
    -- That its session ends is told as its status.
    if failed = 0 and p_tries_max is not null then
      perform append_own_frame(p_run_id, 'agent_status', '{"status":"error"}', 'other');
    end if;
    perform append_own_frame(p_run_id, 'turn_end', json_build_object(
      'exitCode', 1,
      'sessionId', (select s.session_id from sessions s where s.run_id = p_run_id),
      'messageId', message.id,
      'error', coalesce(message.error, p_error)
    )::text);
    update session_messages m
      set ended_at = db_clock(), exit_code = 1, error = coalesce(m.error, p_error)
      where m.id = message.id;
    failed := failed + 1;
  end loop;
  if failed > 0 then
    update runs r set agent_status = 'error' where r.id = p_run_id;
    update sessions s set idle_since = db_clock() where s.run_id = p_run_id;
  end if;
  return failed;
end
$$;

drop function session_sandbox_gone(uuid, integer, integer);

-- A sandbox of a session is over, by what is named where that is known, and what it left is stored.
-- The place is given back unless there is work left. Every writer of a log takes its cursor before its
-- run; so does this.
create function session_sandbox_gone(
  p_run_id uuid, p_generation integer, p_tries_max integer, p_error text default null
)
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
  update session_messages m set error = p_error
    where m.run_id = p_run_id and m.ended_at is null and m.error is null
      and m.attempts >= p_tries_max;
  perform fail_turns(p_run_id, p_tries_max);
  update interactions i set outcome = 'withdrawn' where i.run_id = p_run_id and i.outcome is null;
  update runs r set status = 'sleep', host_id = null, awake = session_has_work(p_run_id)
    where r.id = p_run_id;
  return true;
end
$$;
