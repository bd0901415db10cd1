-- Assigns a host and a generation to the next sandbox of a sleeping session, before its workflow
-- claims them. So the host can start the sandbox while the workflow is still being signalled. The
-- claim of the workflow then returns the same slot, or releases it if the message was withdrawn.
-- Until that claim `waiting_since` is set, and heartbeats remind the workflow. Returns nothing if
-- the session has a host, waits for one, is ending, or has no message. Call it as the only
-- statement of a transaction, because all projects share the placement lock.
create or replace function wake_session(p_run_id uuid, p_stale_after interval)
returns table (host_id text, generation integer)
language plpgsql volatile as $$
declare
  run runs;
  last_used integer;
  slot record;
begin
  -- In the order of claim_session_slot.
  perform from projects p where p.id = (select r.project_id from runs r where r.id = p_run_id)
    for no key update;
  perform from run_logs l where l.run_id = p_run_id for update;
  select * into run from runs r where r.id = p_run_id for no key update;
  if not found or not run.holds_slot or run.host_id is not null or run.waiting_since is not null
    or not session_has_work(p_run_id)
  then
    return;
  end if;
  -- A generation without a host is used only if its sandbox was started.
  select case when s.started_generation < run.generation then run.generation - 1
      else run.generation end
    into last_used from sessions s where s.run_id = p_run_id;
  select * into slot from claim_session_slot(p_run_id, last_used, p_stale_after);
  if slot.outcome = 'assigned' then
    update runs r set waiting_since = db_clock() where r.id = p_run_id;
    host_id := slot.host_id;
    generation := slot.generation;
    return next;
  end if;
end
$$;
