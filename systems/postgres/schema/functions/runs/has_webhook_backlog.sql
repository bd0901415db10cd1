-- Whether the run's webhook uses the slots for backlogs. Other runs of its project have at least
-- p_undelivered webhooks that are not delivered, or at least as many as the common slots have left.
-- So several projects with slow receivers get equal shares, and leave as much to the next project.
-- The common slots are used by p_common_max webhooks of runs that have ended within p_common_for; a
-- webhook that is older was resumed in the slots for backlogs. Reads no more rows than that.
create or replace function has_webhook_backlog(
  run runs, p_undelivered integer, p_common_max integer, p_common_for interval
) returns boolean language sql stable as $$
  select run.webhook_state in ('waiting', 'pending') and least(p_undelivered, p_common_max - (
    select count(*) from (
      select from runs used
      where used.webhook_state = 'pending' and used.webhook_uses_common_slots
        and used.ended_at > db_clock() - p_common_for and used.id <> run.id
      limit p_common_max
    ) counted
  )) <= (
    select count(*) from (
      select from runs other
      where other.project_id = run.project_id and other.webhook_state = 'pending'
        and other.id <> run.id
      limit p_undelivered
    ) counted
  )
$$;
