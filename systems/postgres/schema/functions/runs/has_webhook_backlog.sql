-- Whether the run's webhook uses the backlog slots: true if other runs of its project have at least
-- p_undelivered undelivered webhooks, or at least as many as remain of p_common_max in the common
-- slots. So several projects with slow receivers have equal shares, and the next project can use as
-- many. Webhooks of runs that ended longer ago than p_common_for no longer use the common slots,
-- because they were resumed in the backlog slots. Both counts stop at their limit.
create or replace function has_webhook_backlog(
  run runs, p_undelivered integer, p_common_max integer, p_common_for interval
) returns boolean language plpgsql stable as $$
begin
  return run.webhook_state in ('waiting', 'pending') and least(p_undelivered, p_common_max - (
    select count(*) from (
      select from runs used
      where used.webhook_state = 'pending' and used.webhook_uses_common_slots
        and used.ended_at > (select db_clock()) - p_common_for and used.id <> run.id
      limit p_common_max
    ) counted
  )) <= (
    select count(*) from (
      select from runs other
      where other.project_id = run.project_id and other.webhook_state = 'pending'
        and other.id <> run.id
      limit p_undelivered
    ) counted
  );
end
$$;
