-- What the model calls of a run and of all runs below it have cost, in nano-dollars. Calls whose
-- price is unknown are not included.
create or replace function tree_cost_nanos(p_root_id uuid) returns bigint
language plpgsql stable as $$
begin
  return (
    select coalesce(sum(r.known_cost_nanos), 0) from runs r
    where r.id = p_root_id or (r.ancestor_ids[1] = p_root_id and r.ancestor_ids <> '{}')
  );
end
$$;
