-- Whether a host's worker is assumed to run: it was not stopped, and sent a heartbeat after
-- `seen_after`. A host that is not live gets no new work.
create or replace function is_live(host hosts, seen_after timestamptz) returns boolean
language sql immutable as $$
  select host.stopped_at is null and host.last_seen > seen_after
$$;
