-- Records the cause of the end that a caller requests, and stops the runs below the run. Returns
-- whether the run is a session; no row if a cause was recorded before.
create or replace function request_end(p_run_id uuid, p_cause text)
returns table (is_session boolean) language plpgsql volatile as $$
begin
  perform lock_tree(p_run_id);
  return query
    update runs r set end_cause = p_cause, end_cause_at = db_clock()
    where r.id = p_run_id and r.end_cause is null
    returning r.session_id is not null;
  perform stop_below(p_run_id);
end
$$;
