-- Marks a run as deleted, records the cause if it is active, and stops the runs below it. False if
-- it was deleted before, or does not exist.
create or replace function mark_deleted(p_run_id uuid)
returns boolean language plpgsql volatile as $$
begin
  perform lock_tree(p_run_id);
  update runs r
  set deleted_at = db_clock(),
      end_cause = coalesce(r.end_cause, 'deleted_by_api'),
      end_cause_at = coalesce(r.end_cause_at, db_clock())
  where r.id = p_run_id and r.deleted_at is null;
  if not found then
    return false;
  end if;
  perform stop_below(p_run_id);
  return true;
end
$$;
