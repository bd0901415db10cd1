-- Withdraws a message that no agent can have received, and announces it in the log. `claim_turn`
-- locks the log as well, so a message is either withdrawn or delivered. The row remains without its
-- text, so that a repeated request to store the message finds it. Returns `withdrawn`,
-- `already_withdrawn`, `unknown`, or `not_queued`: an agent may have received the message, or its
-- turn has ended. Locks the log before the run, as every writer of a log does.
create or replace function withdraw_message(p_run_id uuid, p_message_id uuid)
returns text language plpgsql volatile as $$
declare
  message session_messages;
begin
  perform from run_logs l where l.run_id = p_run_id for update;
  select * into message from session_messages m where m.id = p_message_id and m.run_id = p_run_id;
  if not found then
    return 'unknown';
  elsif message.error = 'withdrawn' then
    return 'already_withdrawn';
  elsif message.ended_at is not null or message.delivery_attempts > 0 then
    return 'not_queued';
  end if;

  update session_messages m
    set ended_at = db_clock(), exit_code = 1, error = 'withdrawn', text = ''
    where m.id = p_message_id;
  insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, 'messages', -octet_length(message.text) from runs r where r.id = p_run_id;
  perform append_own_frame(
    p_run_id, 'message_withdrawn', json_build_object('messageId', p_message_id)::text, 'chat'
  );

  -- A sleeping session has claimed its slot for this message, and the workflow may never have been
  -- notified of it. A session that has a host, or waits for one, releases its slot with its
  -- workflow. The run is locked first, because storing a message locks it as well.
  perform from runs r where r.id = p_run_id for no key update;
  update runs r set holds_slot = false
    where r.id = p_run_id and r.holds_slot and r.host_id is null and r.waiting_since is null
      and not session_has_work(p_run_id);
  perform add_session_idle(p_run_id, p_message_id, 1, null, 'withdrawn');
  return 'withdrawn';
end
$$;
