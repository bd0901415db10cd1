-- Adds `budget.reached` for each threshold that the spend of this month (UTC) has passed, of the
-- monthly budgets of a project, a flow and a key. A threshold is reported once. After the budget
-- was raised, it is reported again when a call has passed the threshold of the higher budget. A
-- change of a budget (p_is_change) is not a call: it reports a threshold only if none was reported
-- before. Callers for one project wait for each other, so that the last of them sees the calls of
-- all. Each calls this last in its transaction. Returns whose budget is reached, see
-- reached_budget.sql.
create or replace function report_budgets(
  p_project_id text, p_flow_id uuid, p_key_id uuid, p_is_change boolean
) returns text language plpgsql volatile as $$
declare
  budget record;
  threshold integer;
  this_month date;
  passed_of double precision;
  reached text;
begin
  perform assert_read_committed();
  perform pg_advisory_xact_lock(hashtextextended('budgets of ' || p_project_id, 0));
  this_month := date_trunc('month', db_clock() at time zone 'UTC');
  for budget in
    select * from monthly_budgets(p_project_id, p_flow_id, p_key_id) b order by b."position"
  loop
    if reached is null or reached = 'none' then
      reached := case when budget.current >= budget."limit" then budget.owner else 'none' end;
    end if;
    foreach threshold in array array[80, 100] loop
      continue when budget.current::numeric < budget."limit"::numeric * threshold / 100;
      select t.budget_usd into passed_of from passed_thresholds t
        where t.project_id = p_project_id and t.owner = budget.owner
          and t.owner_id = budget.owner_id and t.month = this_month and t.percent = threshold;
      continue when passed_of >= budget."limit";
      insert into passed_thresholds (project_id, owner, owner_id, month, percent, budget_usd)
        values (
          p_project_id, budget.owner, budget.owner_id, this_month, threshold, budget."limit"
        )
        on conflict (project_id, owner, owner_id, month, percent)
          do update set budget_usd = excluded.budget_usd;
      if passed_of is null or not p_is_change then
        perform add_event(p_project_id, 'budget.reached', json_strip_nulls(json_build_object(
          'budget', budget.owner,
          'flowId', case when budget.owner = 'flow' then budget.owner_id end,
          'keyId', case when budget.owner = 'key' then budget.owner_id end,
          'month', to_char(this_month, 'YYYY-MM'),
          'percent', threshold, 'limitUsd', budget."limit", 'currentUsd', budget.current
        )));
      end if;
    end loop;
  end loop;
  return reached;
end
$$;
