-- Serialises the choice of hosts. A statement that counts slots must start after this lock was
-- granted, because its snapshot would otherwise be older. Every caller locks the project's row
-- first.
create or replace function lock_placement() returns void language sql volatile as $$
  select assert_read_committed();
  select pg_advisory_xact_lock(hashtextextended('placement', 0))
$$;
