-- The monthly budget of a project, and what the model calls of this month (UTC) have cost, in
-- dollars. No row: the project has no budget. Calls whose price is unknown are not included.
create or replace function monthly_budget(p_project_id text)
returns table ("limit" double precision, current double precision)
language sql stable as $$
  select p.monthly_budget_usd, round(s.nanos / 1e9, 6)::double precision
  from projects p cross join lateral (
    select coalesce(sum(d.cost_nanos), 0) as nanos from daily_spending d
    where d.project_id = p.id
      and d.day >= date_trunc('month', (select db_clock()) at time zone 'UTC')::date
  ) s
  where p.id = p_project_id and p.monthly_budget_usd is not null
$$;
