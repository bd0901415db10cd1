-- Whether a session has a message whose turn has not ended.
create or replace function session_has_work(p_run_id uuid) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from session_messages m where m.run_id = p_run_id and m.ended_at is null
  );
end
$$;
