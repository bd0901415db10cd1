-- Decides the generation and the host of a session's next sandbox. `p_after_generation` is the last
-- one whose end the workflow has processed, so a second call returns the result of the first one.
-- `no_capacity`: the session waits for a slot, which assign_waiting gives it. Call it as the only
-- statement of a transaction, because all projects share the placement lock.
create or replace function claim_session_slot(
  p_run_id uuid, p_after_generation integer, p_stale_after interval
)
returns table (outcome text, host_id text, generation integer)
language plpgsql volatile as $$
declare
  run runs;
  pinned_host text;
  last_host text;
begin
  perform from projects p where p.id = (select r.project_id from runs r where r.id = p_run_id)
    for no key update;
  -- Locks the log before the run, as every writer of a log does.
  perform from run_logs l where l.run_id = p_run_id for update;
  select * into run from runs r where r.id = p_run_id for no key update;
  select s.last_host_id into last_host from sessions s where s.run_id = p_run_id
    for no key update;
  if run.end_cause is not null then
    outcome := 'ended';
    return next;
    return;
  end if;
  if not session_has_work(p_run_id) then
    -- A hint may have started a sandbox that the workflow does not know. The next generation
    -- supersedes it, and its host no longer holds the lease of the log.
    if run.waiting_since is not null and run.host_id is not null then
      run.generation := run.generation + 1;
      update run_logs l
        set lease_token = l.lease_token + 1, lease_owner = null, lease_expires_at = null
        where l.run_id = p_run_id and l.lease_owner is not null;
    end if;
    update runs r
      set holds_slot = false, status = 'sleep', host_id = null, waiting_since = null,
          generation = run.generation
      where r.id = p_run_id;
    outcome := 'no_work';
    return next;
    return;
  end if;
  if run.waiting_since is not null and run.generation > p_after_generation then
    if run.host_id is not null then
      update runs r set waiting_since = null where r.id = p_run_id;
      update sessions s set last_host_id = run.host_id where s.run_id = p_run_id;
    end if;
  elsif not run.holds_slot or run.host_id is null or run.generation <= p_after_generation then
    update runs r
      set holds_slot = true, host_id = null, waiting_since = null,
          generation = greatest(r.generation, p_after_generation + 1)
      where r.id = p_run_id returning r.* into run;
    -- The host of an earlier sandbox writes nothing more, and the next one need not wait for its
    -- lease.
    update run_logs l
      set lease_token = l.lease_token + 1, lease_owner = null, lease_expires_at = null
      where l.run_id = p_run_id and l.lease_owner is not null;
    select f.runner into pinned_host from flows f where f.id = run.flow_id;
    perform lock_placement();
    if last_host is not null and (pinned_host is null or pinned_host = last_host) then
      run.host_id := pick_host(run.project_id, last_host, p_stale_after, db_clock());
    end if;
    run.host_id := coalesce(
      run.host_id, pick_host(run.project_id, pinned_host, p_stale_after, db_clock())
    );
    update runs r
      set host_id = run.host_id, waiting_since = case when run.host_id is null then db_clock() end
      where r.id = p_run_id;
    update sessions s set last_host_id = coalesce(run.host_id, s.last_host_id)
      where s.run_id = p_run_id;
  end if;
  outcome := case when run.host_id is null then 'no_capacity' else 'assigned' end;
  host_id := run.host_id;
  generation := run.generation;
  return next;
end
$$;
