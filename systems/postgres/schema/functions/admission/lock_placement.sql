-- Serialises the choice of hosts. A statement that counts slots must start after this lock was
-- granted, because its snapshot would otherwise be older. All projects share the lock. Every caller
-- first locks the rows that it reads or changes, or skips locked ones, so that nothing waits under
-- this lock. It calls this in the only statement of a transaction, so that a client that stops does
-- not hold it.
create or replace function lock_placement() returns void language plpgsql volatile as $$
begin
  perform assert_read_committed();
  perform pg_advisory_xact_lock(hashtextextended('placement', 0));
end
$$;
