-- Replaces the stored working directory of a run; the blobs must exist. Returns null and changes
-- nothing if the run has a later sandbox, if another host has the lease, or after retention has
-- removed the files. Of two concurrent snapshots, one remains as a whole: both lock the run's row
-- first, as does the claim of a slot for the next sandbox.
-- If the snapshot omits the same entries as the last one, `p_record` is stored too, and the result
-- is `recorded`. Otherwise, and if it is null, the result is `listed`: then `record_snapshot`,
-- which locks the log before the run, records the snapshot and announces the change.
create or replace function replace_snapshot(
  p_run_id uuid, p_generation integer, p_token bigint, p_snapshot json, p_record text
)
returns text language plpgsql volatile as $$
begin
  if not lock_current_generation(p_run_id, p_generation, p_token) then
    return null;
  end if;
  perform replace_tree(p_run_id, p_snapshot);
  -- If there is a token, the agent may have changed the files since.
  update runs r
    set snapshot = p_record, has_unstored_files = r.has_unstored_files and p_token is not null
    where r.id = p_run_id and p_record is not null and omits_same(r.snapshot, p_record);
  return case when found then 'recorded' else 'listed' end;
end
$$;
