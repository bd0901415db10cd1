-- Adds model calls to the ledger, and to the totals of their run, turns, days, labels and months.
-- Skips calls that the ledger already has, so repeating it changes nothing. Locks the run first,
-- and then the rows of all totals in one order, so that writers of several runs cannot deadlock.
-- Reports the thresholds of monthly budgets that the calls have passed. Returns the run's totals,
-- and which budget is reached (see budget_of_run.sql); no row if the run was deleted.
create or replace function record_model_calls(p_run_id uuid, p_calls jsonb)
returns table (run_calls bigint, run_cost_nanos bigint, run_reached_budget text)
language plpgsql volatile as $$
declare
  most constant bigint := 9e15;
  run runs;
  reached text;
begin
  select * into run from runs r where r.id = p_run_id for no key update;
  if not found then
    return;
  end if;

  with added as (
    insert into model_calls as m (
      id, run_id, message_id, project_id, flow_id, key_id, labels, model, started_at, ended_at,
      status, is_cut_off, is_estimated, input_tokens, output_tokens, cache_read_tokens,
      cache_write_5m_tokens, cache_write_1h_tokens, web_searches, price, cost_nanos
    )
    select
      c.id, run.id, c.message_id, run.project_id, run.flow_id, run.key_id,
      coalesce(run.admitted_labels, run.labels), c.model, c.started_at, c.ended_at,
      c.status, c.is_cut_off, c.is_estimated, c.input_tokens, c.output_tokens, c.cache_read_tokens,
      c.cache_write_5m_tokens, c.cache_write_1h_tokens, c.web_searches, c.price, c.cost_nanos
    from jsonb_populate_recordset(null::model_calls, p_calls) c
    on conflict (id) do nothing
    returning m.*
  ),
  by_turn as (
    insert into turn_spending as t (
      turn_id, day, run_id, calls, unpriced_calls, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cost_nanos
    )
    select
      coalesce(a.message_id, run.id), (a.ended_at at time zone 'UTC')::date, run.id, count(*),
      count(*) - count(a.cost_nanos), sum(a.input_tokens), sum(a.output_tokens),
      sum(a.cache_read_tokens), sum(a.cache_write_5m_tokens + a.cache_write_1h_tokens),
      coalesce(sum(a.cost_nanos), 0)
    from added a group by 1, 2 order by 1, 2
    on conflict (turn_id, day) do update set
      calls = t.calls + excluded.calls,
      unpriced_calls = t.unpriced_calls + excluded.unpriced_calls,
      input_tokens = least(t.input_tokens + excluded.input_tokens, most),
      output_tokens = least(t.output_tokens + excluded.output_tokens, most),
      cache_read_tokens = least(t.cache_read_tokens + excluded.cache_read_tokens, most),
      cache_write_tokens = least(t.cache_write_tokens + excluded.cache_write_tokens, most),
      cost_nanos = least(t.cost_nanos + excluded.cost_nanos, most)
  ),
  by_day as (
    insert into daily_spending as d (
      day, project_id, flow_id, key_id, model, calls, unpriced_calls, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, cost_nanos
    )
    select
      (a.ended_at at time zone 'UTC')::date, run.project_id, run.flow_id, run.key_id, a.model,
      count(*), count(*) - count(a.cost_nanos), sum(a.input_tokens), sum(a.output_tokens),
      sum(a.cache_read_tokens), sum(a.cache_write_5m_tokens + a.cache_write_1h_tokens),
      coalesce(sum(a.cost_nanos), 0)
    from added a group by 1, 5 order by 1, 5
    on conflict (project_id, day, flow_id, key_id, model) do update set
      calls = d.calls + excluded.calls,
      unpriced_calls = d.unpriced_calls + excluded.unpriced_calls,
      input_tokens = least(d.input_tokens + excluded.input_tokens, most),
      output_tokens = least(d.output_tokens + excluded.output_tokens, most),
      cache_read_tokens = least(d.cache_read_tokens + excluded.cache_read_tokens, most),
      cache_write_tokens = least(d.cache_write_tokens + excluded.cache_write_tokens, most),
      cost_nanos = least(d.cost_nanos + excluded.cost_nanos, most)
  ),
  by_label as (
    insert into daily_label_spending as l (
      project_id, label, day, value, calls, unpriced_calls, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, cost_nanos
    )
    select
      run.project_id, split_part(p.pair, '"', 2), (a.ended_at at time zone 'UTC')::date,
      substr(p.pair, strpos(p.pair, '":') + 2), count(*), count(*) - count(a.cost_nanos),
      sum(a.input_tokens), sum(a.output_tokens), sum(a.cache_read_tokens),
      sum(a.cache_write_5m_tokens + a.cache_write_1h_tokens), coalesce(sum(a.cost_nanos), 0)
    from added a, unnest(label_pairs(coalesce(run.admitted_labels, run.labels))) p(pair)
    group by 2, 3, 4 order by 2, 3, 4
    on conflict (project_id, label, day, value) do update set
      calls = l.calls + excluded.calls,
      unpriced_calls = l.unpriced_calls + excluded.unpriced_calls,
      input_tokens = least(l.input_tokens + excluded.input_tokens, most),
      output_tokens = least(l.output_tokens + excluded.output_tokens, most),
      cache_read_tokens = least(l.cache_read_tokens + excluded.cache_read_tokens, most),
      cache_write_tokens = least(l.cache_write_tokens + excluded.cache_write_tokens, most),
      cost_nanos = least(l.cost_nanos + excluded.cost_nanos, most)
  ),
  by_month as (
    insert into monthly_spending as m (project_id, owner, owner_id, month, cost_nanos)
    select
      run.project_id, o.owner, o.owner_id,
      date_trunc('month', a.ended_at at time zone 'UTC')::date, sum(a.cost_nanos)
    from added a, (
      values (1, 'key', run.key_id::text), (2, 'flow', run.flow_id::text),
             (3, 'project', run.project_id)
    ) o("position", owner, owner_id)
    where a.cost_nanos > 0 and o.owner_id is not null
    group by o."position", 2, 3, 4 order by o."position", 4
    on conflict (project_id, owner, owner_id, month) do update set
      cost_nanos = least(m.cost_nanos + excluded.cost_nanos, most)
  )
  update runs r set
    input_tokens = least(r.input_tokens + s.input, most),
    output_tokens = least(r.output_tokens + s.output, most),
    cache_read_input_tokens = least(r.cache_read_input_tokens + s.cache_read, most),
    cache_creation_input_tokens = least(r.cache_creation_input_tokens + s.cache_write, most),
    model_calls = r.model_calls + s.calls,
    known_cost_nanos = least(r.known_cost_nanos + s.cost, most),
    cost_nanos = case
      when s.calls > s.priced or (r.model_calls > 0 and r.cost_nanos is null) then null
      else least(coalesce(r.cost_nanos, 0) + s.cost, most)
    end
  from (
    select
      count(*) as calls, count(a.cost_nanos) as priced, sum(a.input_tokens) as input,
      sum(a.output_tokens) as output, sum(a.cache_read_tokens) as cache_read,
      sum(a.cache_write_5m_tokens + a.cache_write_1h_tokens) as cache_write,
      coalesce(sum(a.cost_nanos), 0) as cost
    from added a
  ) s
  where r.id = run.id and s.calls > 0;

  -- Last, because it serialises the calls of a project.
  if has_budget(run.project_id, run.flow_id, run.key_id) then
    reached := report_budgets(run.project_id, run.flow_id, run.key_id, false);
  end if;
  reached := budget_of_run(reached, reached_tree_budget(run.id, run.ancestor_ids));
  return query select r.model_calls, r.cost_nanos, reached from runs r where r.id = run.id;
end
$$;
