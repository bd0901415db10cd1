-- Whether a run occupies a slot of its project and of its host: a plain run from admission to its
-- end, a session only while it has work or a sandbox.
create or replace function occupies_slot(run runs) returns boolean language sql immutable as $$
  select run.ended_at is null and (run.session_id is null or run.holds_slot)
$$;
