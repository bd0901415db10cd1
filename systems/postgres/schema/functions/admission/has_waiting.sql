-- Whether a run or session waits for a slot, or has one that its workflow has not claimed.
create or replace function has_waiting(except_run uuid default null) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from runs r
    where r.ended_at is null and r.waiting_since is not null and r.id is distinct from except_run
  );
end
$$;
