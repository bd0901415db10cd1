-- Assigns a host to a run that was admitted while every host was full. Returns the run's host if it
-- has one already, and null if every host is still full or the run has ended without one.
create or replace function claim_slot(p_run_id uuid, p_stale_after interval) returns text
language plpgsql volatile as $$
declare
  run runs;
  pinned_host text;
begin
  perform from projects where id = (select r.project_id from runs r where r.id = p_run_id)
    for no key update;
  perform lock_placement();
  select * into run from runs where id = p_run_id for no key update;
  if run.host_id is not null or run.ended_at is not null then
    return run.host_id;
  end if;
  select f.runner into pinned_host from flows f where f.id = run.flow_id;
  update runs set host_id = pick_host(pinned_host, p_stale_after, db_clock())
    where id = p_run_id returning host_id into run.host_id;
  return run.host_id;
end
$$;
