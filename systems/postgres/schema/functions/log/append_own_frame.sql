-- Appends a frame that the service writes itself, and returns its number. Call with the run's log
-- locked.
create or replace function append_own_frame(
  p_run_id uuid, p_event text, p_data text, p_channel text
)
returns bigint language plpgsql volatile as $$
declare
  next_seq bigint;
begin
  update run_logs l set last_seq = l.last_seq + 1 where l.run_id = p_run_id
    returning l.last_seq into next_seq;
  insert into frames (run_id, seq, at, event, channel, data)
    values (p_run_id, next_seq, db_clock(), p_event, p_channel, p_data);
  insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, 'logs', octet_length(p_data) from runs r where r.id = p_run_id;
  return next_seq;
end
$$;
