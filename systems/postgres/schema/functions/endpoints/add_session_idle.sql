-- Adds `session.idle` if no message of the session is left after the turn of p_message_id, which
-- the calling statement may end. p_error is null unless the service has failed the turn.
create or replace function add_session_idle(
  p_run_id uuid, p_message_id uuid, p_exit_code integer, p_result text, p_error text
) returns void language plpgsql volatile as $$
begin
  perform from session_messages m
    where m.run_id = p_run_id and m.ended_at is null and m.id <> p_message_id;
  if not found then
    perform add_event(r.project_id, 'session.idle', json_strip_nulls(json_build_object(
      'messageId', p_message_id, 'exitCode', p_exit_code, 'result', p_result, 'error', p_error
    )), r.id) from runs r where r.id = p_run_id;
  end if;
end
$$;
