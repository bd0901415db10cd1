-- Whether a project, a flow or a key has a monthly budget.
create or replace function has_budget(p_project_id text, p_flow_id uuid, p_key_id uuid)
returns boolean language plpgsql stable as $$
begin
  return exists (
    select from projects p where p.id = p_project_id and p.monthly_budget_usd is not null
  ) or exists (
    select from flows f where f.id = p_flow_id and f.monthly_budget_usd is not null
  ) or exists (
    select from api_keys k where k.id = p_key_id and k.monthly_budget_usd is not null
  );
end
$$;
