-- Whether the session's agent has finished a turn after the last save began. Turns that the service
-- failed do not count: clients know that they have no result, and a sandbox that ends is saved
-- before they fail.
create or replace function has_unsaved_turn(p_session sessions)
returns boolean language plpgsql stable as $$
begin
  return coalesce((
    select m.ended_at > coalesce(p_session.snapshot_at, '-infinity') from session_messages m
    where m.run_id = p_session.run_id and m.ended_at is not null and m.is_accepted
      and (m.error is null or m.exit_code = 0)
    order by m.position desc limit 1
  ), false);
end
$$;
