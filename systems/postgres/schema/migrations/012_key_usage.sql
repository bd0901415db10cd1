-- Up Migration
create table key_usage (
  key_id uuid not null references api_keys,
  -- of UTC
  day date not null,
  calls bigint not null,
  errors bigint not null,
  duration_ms bigint not null,
  primary key (key_id, day)
);
create index key_usage_by_day on key_usage (day);
