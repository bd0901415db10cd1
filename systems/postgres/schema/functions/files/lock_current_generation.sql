-- Whether this is the run's last sandbox, its lease is current if it has one (`p_token` is not
-- null), and retention has not removed the run's files. All of that remains true until the
-- transaction ends. The lease is checked after the row is locked, so that the next holder writes
-- after this one.
create or replace function lock_current_generation(
  p_run_id uuid, p_generation integer, p_token bigint
)
returns boolean language plpgsql volatile as $$
begin
  perform assert_read_committed();
  perform from runs r
    where r.id = p_run_id and r.generation = p_generation and r.files_purged_at is null
    for no key update;
  return found and (p_token is null or exists (
    select from run_logs l where l.run_id = p_run_id and l.lease_token = p_token
  ));
end
$$;
