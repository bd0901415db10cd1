-- Call in the transaction that restores a backup, before its content becomes visible, or when
-- commits were lost while the service runs. Work that was active at that time has continued since,
-- so none of it is started or repeated; docs/backup.md lists the cases. Locks logs before runs, as
-- every writer of a log does. Returns how many runs are to be ended, and how many messages have
-- failed.
create or replace function record_restore(p_dumped_at timestamptz)
returns table (runs_ended bigint, messages_failed bigint)
language plpgsql volatile as $$
declare
  session runs;
begin
  insert into restores (dumped_at) values (p_dumped_at);

  -- Skips all tokens that may have been issued since the backup, so that their holders write
  -- nothing.
  update run_logs l
    set lease_token = l.lease_token + (1::bigint << 32), lease_owner = null, lease_expires_at = null
    where not l.is_final;

  -- The recorded cause prevents the start of a sandbox. The reconciler ends the runs.
  update runs r
    set end_cause = 'max_reconnects_exceeded',
        end_detail = 'the database was restored from a backup',
        end_cause_at = db_clock()
    where r.ended_at is null and r.end_cause is null and r.session_id is null;
  get diagnostics runs_ended = row_count;

  -- An agent may have worked on a waiting message since, so the message fails and is not delivered.
  messages_failed := 0;
  for session in select * from runs r where r.ended_at is null and r.session_id is not null loop
    messages_failed := messages_failed
      + fail_turns(session.id, null, 'max_reconnects_exceeded');
    perform release_session_sandbox(session.id, session.generation, 1, null);
  end loop;

  -- Links may have been used, and operators may have signed out.
  delete from operator_links;
  delete from operator_sessions;
  delete from host_rpc_requests;

  -- Temporal may have other schedules by now. Versions of flows start at 1.
  update flows set schedule_synced_version = 0;
  return next;
end
$$;
