-- Whether a plain run has certainly not started: its container was not started, and no sandbox has
-- acknowledged its configuration. Only such a run may move to another host.
create or replace function is_unstarted(run runs) returns boolean language plpgsql stable as $$
begin
  return run.ended_at is null and run.end_cause is null and run.started_at is null
    and exists (select from run_configs c where c.run_id = run.id);
end
$$;
