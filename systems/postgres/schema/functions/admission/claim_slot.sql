-- Assigns a host to the sandbox of a plain run that follows `p_after_generation`; 0 for the first
-- one. A run that was admitted while every host was full gets a host. A run whose host does not
-- start the sandbox of `p_after_generation` moves to another one: the next generation supersedes
-- the sandbox that the first host may still start, and that host no longer holds the lease of the
-- log. A run that may have been started, and one whose flow is bound to its host, stays. A run also
-- stays if its host is live and no other one has a free slot. A second call returns the result of
-- the first one. `host_id` is null while the run waits for a slot, which assign_waiting gives it,
-- and if the run has ended without one. A waiting run is not locked, so that assign_waiting finds
-- it. Call it as the only statement of a transaction, because all projects share the placement
-- lock.
create or replace function claim_slot(
  p_run_id uuid, p_after_generation integer, p_stale_after interval
)
returns table (host_id text, generation integer)
language plpgsql volatile as $$
declare
  run runs;
  pinned_host text;
  other_host text;
begin
  select * into run from runs r where r.id = p_run_id;
  if is_waiting(run) then
    generation := run.generation;
    return next;
    return;
  end if;
  perform from projects p where p.id = (select r.project_id from runs r where r.id = p_run_id)
    for no key update;
  -- Locks the log before the run, as every writer of a log does.
  perform from run_logs l where l.run_id = p_run_id for update;
  select * into run from runs r where r.id = p_run_id for no key update;
  select f.runner into pinned_host from flows f where f.id = run.flow_id;
  if run.ended_at is null and run.host_id is null then
    perform lock_placement();
    run.host_id := pick_host(run.project_id, pinned_host, p_stale_after, db_clock());
    update runs r
      set host_id = run.host_id, waiting_since = case when run.host_id is null then r.created_at end
      where r.id = p_run_id returning r.* into run;
  elsif run.waiting_since is not null then
    update runs r set waiting_since = null where r.id = p_run_id;
  elsif run.generation <= p_after_generation and pinned_host is null and is_unstarted(run) then
    perform lock_placement();
    other_host := pick_host(run.project_id, null, p_stale_after, db_clock(), run.host_id);
    if other_host is not null or not exists (
      select from hosts h where h.id = run.host_id and is_live(h, db_clock() - p_stale_after)
    ) then
      update runs r
        set host_id = other_host, generation = p_after_generation + 1,
            waiting_since = case when other_host is null then r.created_at end
        where r.id = p_run_id returning r.* into run;
      update run_logs l
        set generation = run.generation, lease_token = l.lease_token + 1,
            lease_owner = null, lease_expires_at = null
        where l.run_id = p_run_id;
    end if;
  end if;
  host_id := run.host_id;
  generation := run.generation;
  return next;
end
$$;
