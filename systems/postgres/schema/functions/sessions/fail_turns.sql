-- Fails messages and appends a `turn_end` with the reason for each: all messages that are left, or,
-- with `p_attempts_max`, those that were delivered that often. Call with the run's log locked.
-- Returns how many messages failed.
create or replace function fail_turns(p_run_id uuid, p_attempts_max integer, p_error text)
returns integer language plpgsql volatile as $$
declare
  message session_messages;
  failed integer := 0;
  last_id uuid;
begin
  for message in
    select * from session_messages m
    where m.run_id = p_run_id and m.ended_at is null
      and (p_attempts_max is null or m.delivery_attempts >= p_attempts_max)
    order by m.position
  loop
    -- The end of a session publishes the agent's status itself.
    if failed = 0 and p_attempts_max is not null then
      perform append_own_frame(p_run_id, 'agent_status', '{"status":"error"}', 'other');
    end if;
    perform append_own_frame(p_run_id, 'turn_end', json_build_object(
      'exitCode', 1,
      'sessionId', (select s.session_id from sessions s where s.run_id = p_run_id),
      'messageId', message.id,
      'error', coalesce(message.error, p_error)
    )::text, 'chat');
    update session_messages m
      set ended_at = db_clock(), exit_code = 1, error = coalesce(m.error, p_error)
      where m.id = message.id;
    failed := failed + 1;
    last_id := message.id;
  end loop;
  if failed > 0 then
    update runs r set agent_status = 'error' where r.id = p_run_id;
    update sessions s set idle_since = db_clock() where s.run_id = p_run_id;
  end if;
  -- The end of a session is an event itself.
  if failed > 0 and p_attempts_max is not null then
    perform add_session_idle(p_run_id, last_id, 1, null, m.error)
      from session_messages m where m.id = last_id;
  end if;
  return failed;
end
$$;
