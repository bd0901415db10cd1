-- Up Migration
create table operators (
  id uuid primary key,
  name text not null unique,
  created_at timestamptz not null default db_clock()
);

-- One-time ways in. Codes and sessions hold 256 bits of chance, so a plain hash of them is kept.
create table operator_links (
  code_hash bytea primary key,
  operator_id uuid not null references operators on delete cascade,
  expires_at timestamptz not null
);
create index operator_links_of_operator on operator_links (operator_id);

create table operator_sessions (
  token_hash bytea primary key,
  operator_id uuid not null references operators on delete cascade,
  expires_at timestamptz not null
);
create index operator_sessions_of_operator on operator_sessions (operator_id);

-- One row at most: of all processes that ever start, one makes the first operator.
create table first_operator (
  is_made boolean primary key check (is_made)
);

alter table projects
  -- {apiKey, baseUrl} as JSON text, sealed; null: the service's own
  add column model_sealed bytea;

alter table flows
  add column schedule_cron text,
  add column schedule_timezone text,
  add check ((schedule_cron is null) = (schedule_timezone is null));

-- How often an operator has asked to deliver the webhook again.
alter table runs add column webhook_redeliveries integer not null default 0;
