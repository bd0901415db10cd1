-- Waits until no run is being admitted below a run, and makes later admissions wait. Does nothing
-- for a run that may have none.
create or replace function lock_tree(p_run_id uuid) returns void language plpgsql volatile as $$
begin
  perform assert_read_committed();
  perform from projects p where p.id = (
    select r.project_id from runs r join flows f on f.id = r.flow_id
    where r.id = p_run_id and (
      f.child_runs is not null or exists (
        select from runs c
        where c.ancestor_ids[1] = coalesce(r.ancestor_ids[1], r.id) and c.ancestor_ids <> '{}'
      )
    )
  ) for no key update;
end
$$;
