-- Records that a session's sandbox has ended and that its files are stored. Releases the slot
-- unless the session has work. `p_error` is the reason, if known, for messages that are not
-- delivered again. If the workflow does not know of the sandbox, its next claim gets a further
-- generation. Locks the log before the run, as every writer of a log does.
create or replace function release_session_sandbox(
  p_run_id uuid, p_generation integer, p_attempts_max integer, p_error text
)
returns boolean language plpgsql volatile as $$
declare
  run runs;
begin
  perform from run_logs l where l.run_id = p_run_id for update;
  select * into run from runs r where r.id = p_run_id for no key update;
  if run.generation <> p_generation or run.ended_at is not null then
    return false;
  end if;
  update run_logs l set lease_owner = null, lease_expires_at = null
    where l.run_id = p_run_id and l.generation = p_generation;
  perform fail_turns(
    p_run_id, p_attempts_max, coalesce(p_error, 'max_reconnects_exceeded')
  );
  update interactions i set outcome = 'withdrawn' where i.run_id = p_run_id and i.outcome is null;
  update runs r
    set status = 'sleep', host_id = null, holds_slot = session_has_work(p_run_id),
        generation = r.generation + (r.waiting_since is not null)::integer, waiting_since = null
    where r.id = p_run_id;
  return true;
end
$$;
