-- Fails in a transaction of another isolation level. There, every statement has the snapshot of the
-- first one, so a count after a lock would miss what the lock's last holder has committed.
-- Processes of the service state the level when they connect; a connection pooler may drop that.
create or replace function assert_read_committed() returns void language plpgsql stable as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'this transaction is %, and must be read committed',
      current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state',
        hint = 'Set default_transaction_isolation to "read committed" for the database and the role.';
  end if;
end
$$;
