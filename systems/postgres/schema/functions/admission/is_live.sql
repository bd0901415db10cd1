-- Whether a host's worker runs, as far as its heartbeats tell: one was sent after `seen_after`. A host
-- that is not live gets nothing new.
create or replace function is_live(host hosts, seen_after timestamptz) returns boolean
language sql immutable as $$
  select host.stopped_at is null and host.last_seen > seen_after
$$;
