-- Whether a run or session waits for a slot of a host.
create or replace function is_waiting(run runs) returns boolean language sql immutable as $$
  select run.waiting_since is not null and run.host_id is null and run.end_cause is null
    and occupies_slot(run)
$$;
