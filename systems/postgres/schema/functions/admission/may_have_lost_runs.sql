-- Whether the database may lack runs that it once admitted: a restore is not reconciled, or a host
-- has not compared the database with its last heartbeat and with Redis since Postgres was started.
-- All live hosts do so within seconds. If none is live, the first one that returns does.
create or replace function may_have_lost_runs(p_host_stale_after interval) returns boolean
language plpgsql volatile as $$
begin
  return exists (select from restores where reconciled_at is null) or exists (
    select from hosts h
    where h.server_started_at <> pg_postmaster_start_time() and h.stopped_at is null
      and (is_live(h, db_clock() - p_host_stale_after) or not exists (
        select from hosts c where c.server_started_at = pg_postmaster_start_time()
      ))
  );
end
$$;
