-- Records that the runs below a run are to be stopped. The caller has recorded the end of the run
-- itself after lock_tree.sql, so no further run starts below it.
create or replace function stop_below(p_run_id uuid) returns void language plpgsql volatile as $$
declare
  root_id constant uuid := (
    select coalesce(r.ancestor_ids[1], r.id) from runs r where r.id = p_run_id
  );
begin
  update runs r set end_cause = 'stopped_by_api', end_cause_at = db_clock()
  where r.ancestor_ids[1] = root_id and r.ancestor_ids <> '{}'
    and r.ancestor_ids @> array[p_run_id] and r.end_cause is null;
end
$$;
