-- Whether the model calls of the tree of a run have reached its budget: `tree` or `none`. Null: the
-- tree has no budget, which is that of the root's flow.
create or replace function reached_tree_budget(p_run_id uuid, p_ancestor_ids uuid[]) returns text
language plpgsql stable as $$
declare
  root_id constant uuid := coalesce(p_ancestor_ids[1], p_run_id);
  budget_usd numeric;
begin
  select (f.child_runs ->> 'maxBudgetUsd')::numeric into budget_usd
    from runs r join flows f on f.id = r.flow_id where r.id = root_id;
  return case
    when budget_usd is null then null
    when tree_cost_nanos(root_id) >= budget_usd * 1e9 then 'tree'
    else 'none'
  end;
end
$$;
