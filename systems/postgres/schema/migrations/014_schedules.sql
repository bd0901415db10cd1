-- Up Migration

-- The version of the flow whose schedule Temporal was told; null: it knows of none.
alter table flows
  add column schedule_told_version integer,
  -- nobody is there to bring one when a schedule starts a run
  add check (schedule_cron is null or prompt is not null);

create index flows_with_schedule on flows (id)
  where schedule_cron is not null or schedule_told_version is not null;
