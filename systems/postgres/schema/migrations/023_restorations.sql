-- Up Migration

-- That this database came out of a backup: Temporal, the hosts and the receivers of webhooks know of
-- a time that it does not. Settled once Temporal was compared with it.
create table restorations (
  id uuid primary key default gen_random_uuid(),
  -- when the backup was made
  dumped_at timestamptz not null,
  restored_at timestamptz not null default db_clock(),
  settled_at timestamptz
);

-- Called in the transaction that fills the database from a backup, before anybody sees what is in it:
-- what was going on in the backup has gone on since, so nothing of it is begun or done again. The cases
-- are in docs/backup.md. Returns how many runs are to end, and how many messages have failed.
create function note_restoration(p_dumped_at timestamptz)
returns table (runs_ended bigint, messages_failed bigint)
language plpgsql volatile as $$
declare
  session runs;
begin
  insert into restorations (dumped_at) values (p_dumped_at);

  -- The cause is recorded; how each comes to its end, the reconciler finds out. A recorded cause also
  -- keeps any sandbox from being started.
  update runs r
    set end_cause = 'max_reconnects_exceeded',
        end_detail = 'the database was restored from a backup',
        end_cause_at = db_clock()
    where r.ended_at is null and r.end_cause is null and r.session_id is null;
  get diagnostics runs_ended = row_count;

  -- Tokens that were given out since the backup are never given out again: whoever holds one and comes
  -- back late writes nothing.
  update cursors c
    set lease_token = c.lease_token + (1::bigint << 32), lease_owner = null, lease_expires_at = null
    where not c.closed;

  -- A message that was waiting may have been worked on since, so it is failed, not given to an agent.
  messages_failed := 0;
  for session in select * from runs r where r.ended_at is null and r.session_id is not null loop
    messages_failed := messages_failed + fail_turns(session.id, null);
    perform session_sandbox_gone(session.id, session.generation, 1);
  end loop;

  -- One-time links may have been used, and who signed out must stay out.
  delete from operator_links;
  delete from operator_sessions;
  delete from host_requests;

  -- Temporal may have been told of other schedules since; 0 is no flow's version.
  update flows set schedule_told_version = 0;
  return next;
end
$$;
