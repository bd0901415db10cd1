-- The limit that permits no further run below these runs, the root of the tree first; no row if
-- one may start. The limits are those of the root's flow. The caller has locked the project, so no
-- other run of the tree is admitted meanwhile.
create or replace function reached_tree_limit(p_ancestor_ids uuid[], p_depth_max integer)
returns table (reason text, "limit" double precision, current double precision)
language plpgsql volatile as $$
declare
  child_runs json;
  descendants bigint;
  active bigint;
  nanos bigint;
begin
  if cardinality(p_ancestor_ids) > p_depth_max then
    return query select 'TREE_DEPTH', p_depth_max::double precision,
      cardinality(p_ancestor_ids)::double precision - 1;
    return;
  end if;
  select f.child_runs into child_runs
    from runs r join flows f on f.id = r.flow_id where r.id = p_ancestor_ids[1];
  select count(*), count(*) filter (where r.ended_at is null) into descendants, active
    from runs r where r.ancestor_ids[1] = p_ancestor_ids[1] and r.ancestor_ids <> '{}';
  -- An operator has withdrawn the permission since the root was started.
  if child_runs is null then
    return query select 'TREE_RUNS', 0::double precision, descendants::double precision;
    return;
  end if;
  if descendants >= (child_runs ->> 'maxRuns')::bigint then
    return query
      select 'TREE_RUNS', (child_runs ->> 'maxRuns')::double precision, descendants::double precision;
    return;
  end if;
  if active >= (child_runs ->> 'maxConcurrent')::bigint then
    return query select 'TREE_CONCURRENT', (child_runs ->> 'maxConcurrent')::double precision,
      active::double precision;
    return;
  end if;
  nanos := tree_cost_nanos(p_ancestor_ids[1]);
  if nanos >= (child_runs ->> 'maxBudgetUsd')::numeric * 1e9 then
    return query select 'TREE_BUDGET', (child_runs ->> 'maxBudgetUsd')::double precision,
      round(nanos / 1e9, 6)::double precision;
  end if;
end
$$;
