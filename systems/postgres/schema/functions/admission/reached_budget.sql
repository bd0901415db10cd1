-- Whose monthly budget is reached, of a project, a flow and a key. Of several, the first is named.
-- 'none': no budget is reached. Null: they have no budget.
create or replace function reached_budget(p_project_id text, p_flow_id uuid, p_key_id uuid)
returns text language plpgsql stable as $$
begin
  return (
    select coalesce(
      (array_agg(b.owner order by b."position") filter (where b.current >= b."limit"))[1], 'none'
    )
    from monthly_budgets(p_project_id, p_flow_id, p_key_id) b
    having count(*) > 0
  );
end
$$;
