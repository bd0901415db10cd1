-- Replaces the stored working directory of a run; the blobs must exist. Returns false and changes
-- nothing if the run has a later sandbox, if another host has the lease, or after retention has
-- removed the files. Of two concurrent snapshots, one remains as a whole: both lock the run's row
-- first, as does the claim of a slot for the next sandbox.
create or replace function replace_snapshot(
  p_run_id uuid, p_generation integer, p_token bigint, p_snapshot json
)
returns boolean language plpgsql volatile as $$
begin
  if not lock_current_generation(p_run_id, p_generation, p_token) then
    return false;
  end if;
  perform replace_tree(p_run_id, p_snapshot);
  return true;
end
$$;
