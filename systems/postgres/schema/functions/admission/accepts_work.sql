-- Whether a host gets new work: it is not draining, its disk has enough free space, and its worker
-- is assumed to run.
create or replace function accepts_work(host hosts, seen_after timestamptz) returns boolean
language sql immutable as $$
  select not host.draining and not host.disk_short and is_live(host, seen_after)
$$;
