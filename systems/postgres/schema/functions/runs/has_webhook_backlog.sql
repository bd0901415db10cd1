-- Whether other runs of the project have at least this many undelivered webhooks. Reads no more of
-- them than that.
create or replace function has_webhook_backlog(run runs, undelivered integer)
returns boolean language sql stable as $$
  select run.webhook_state in ('waiting', 'pending') and undelivered = (
    select count(*) from (
      select from runs other
      where other.project_id = run.project_id and other.webhook_state = 'pending'
        and other.id <> run.id
      limit undelivered
    ) counted
  )
$$;
