-- Up Migration

-- What a run leaves behind is kept for a time: its log, and what its working directory held. When
-- each was swept; what was never there counts as swept when its time has come.
alter table runs
  add column log_swept_at timestamptz,
  add column files_swept_at timestamptz;
create index runs_with_log on runs (ended_at) where ended_at is not null and log_swept_at is null;
create index runs_with_files on runs (ended_at)
  where ended_at is not null and files_swept_at is null and session_id is null;
create index sessions_with_files on runs (ended_at)
  where ended_at is not null and files_swept_at is null and session_id is not null;
create index runs_deleted on runs (deleted_at) where deleted_at is not null;

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
create index idempotency_keys_of_run on idempotency_keys (run_id);
create index webhook_attempts_by_start on webhook_attempts (started_at);
