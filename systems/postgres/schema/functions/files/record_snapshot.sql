-- Records which entries a snapshot omitted. Appends the frame `files_skipped` if they have changed
-- since the last snapshot, and returns whether it did. Changes nothing if the run has a later
-- sandbox, or if another host has the lease. Locks the log before the run, as every writer of a log
-- does.
create or replace function record_snapshot(
  p_run_id uuid, p_generation integer, p_token bigint, p_snapshot text
)
returns boolean language plpgsql volatile as $$
declare
  log run_logs;
  before text;
  after constant json := p_snapshot;
begin
  select * into log from run_logs l where l.run_id = p_run_id for update;
  select r.snapshot into before
    from runs r where r.id = p_run_id and r.generation = p_generation for no key update;
  if not found or log.lease_token <> p_token then
    return false;
  end if;
  -- If there is a token, the agent may have changed the files since.
  update runs r
    set snapshot = p_snapshot, has_unstored_files = r.has_unstored_files and p_token is not null
    where r.id = p_run_id;
  if log.is_final or omits_same(before, p_snapshot) then
    return false;
  end if;
  perform append_own_frame(p_run_id, 'files_skipped', json_build_object(
    'skippedCount', after -> 'skippedCount', 'skipped', after -> 'skipped'
  )::text, 'other');
  return true;
end
$$;
