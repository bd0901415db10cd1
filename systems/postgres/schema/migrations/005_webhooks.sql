-- Up Migration
create table webhook_attempts (
  run_id uuid not null references runs,
  -- 0: by the run's own workflow; n: by the n-th workflow that took over or was asked to redeliver
  delivery integer not null default 0,
  attempt integer not null check (attempt >= 1),
  started_at timestamptz not null default db_clock(),
  finished_at timestamptz,
  status integer,
  error text,
  primary key (run_id, delivery, attempt)
);
