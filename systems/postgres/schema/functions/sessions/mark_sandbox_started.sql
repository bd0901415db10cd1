-- Marks the start of a session's sandbox and announces it in the log, once per generation. Returns
-- the frames in order; none if it was announced before, if another host has the lease, or if the
-- log is closed. If the sandbox of a turn that has ended was lost before its state was saved, the
-- second frame names the last message whose turn is part of the saved state. Locks the log before
-- the run, as every writer of a log does, and the run before the session, in the order of storing a
-- message.
create or replace function mark_sandbox_started(
  p_run_id uuid, p_generation integer, p_token bigint
)
returns table (seq bigint, at timestamptz, event text, channel text, data text)
language plpgsql volatile as $$
declare
  session sessions;
  saved_message uuid;
begin
  perform from run_logs l
    where l.run_id = p_run_id and l.lease_token = p_token and not l.is_final for update;
  if not found then
    return;
  end if;
  perform from runs r where r.id = p_run_id for no key update;
  update sessions s set started_generation = p_generation
    where s.run_id = p_run_id and s.started_generation < p_generation
    returning s.* into session;
  if not found then
    return;
  end if;
  update runs r
    set status = 'running', agent_status = 'idle',
        started_at = coalesce(r.started_at, db_clock())
    where r.id = p_run_id and r.generation = p_generation and r.ended_at is null;

  channel := 'chat';
  event := 'session_ready';
  data := format('{"sessionId":%s}', to_json(session.session_id));
  seq := append_own_frame(p_run_id, event, data, channel);
  at := db_clock();
  return next;
  if has_unsaved_turn(session) then
    select m.id into saved_message from session_messages m
      where m.run_id = p_run_id and m.ended_at <= session.snapshot_at and m.is_accepted
      order by m.position desc limit 1;
    event := 'state_rolled_back';
    data := format('{"messageId":%s}', coalesce(to_json(saved_message)::text, 'null'));
    seq := append_own_frame(p_run_id, event, data, channel);
    return next;
  end if;
  channel := 'other';
  event := 'agent_status';
  data := '{"status":"idle"}';
  seq := append_own_frame(p_run_id, event, data, channel);
  return next;
end
$$;
