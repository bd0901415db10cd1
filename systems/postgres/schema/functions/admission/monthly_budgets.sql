-- The monthly budgets of a project, of a flow and of a key, and what the model calls of this month
-- (UTC) have cost, in dollars. An owner without a budget has no row. Calls whose price is unknown
-- are not included. p_flow_id and p_key_id may be null.
create or replace function monthly_budgets(p_project_id text, p_flow_id uuid, p_key_id uuid)
returns table (
  "position" integer, owner text, owner_id text, "limit" double precision, current double precision
)
language sql stable as $$
  select b."position", b.owner, b.owner_id, b."limit",
    round(coalesce(s.cost_nanos, 0) / 1e9, 6)::double precision
  from (
    select 1 as "position", 'project' as owner, p.id as owner_id, p.monthly_budget_usd as "limit"
    from projects p where p.id = p_project_id and p.monthly_budget_usd is not null
    union all
    select 2, 'flow', f.id::text, f.monthly_budget_usd
    from flows f where f.id = p_flow_id and f.monthly_budget_usd is not null
    union all
    select 3, 'key', k.id::text, k.monthly_budget_usd
    from api_keys k where k.id = p_key_id and k.monthly_budget_usd is not null
  ) b
  left join monthly_spending s
    on s.project_id = p_project_id and s.owner = b.owner and s.owner_id = b.owner_id
      and s.month = date_trunc('month', (select db_clock()) at time zone 'UTC')::date
$$;
