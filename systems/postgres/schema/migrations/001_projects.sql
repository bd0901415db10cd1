-- Up Migration

-- The one clock that windows, leases and expiries are judged by; as fine as a timestamp that a
-- client sees, so that what is compared is what is shown.
create function db_clock() returns timestamptz language sql volatile as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;

create table projects (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  name text not null,
  max_concurrent_runs integer not null default 10 check (max_concurrent_runs >= 0),
  monthly_run_quota integer check (monthly_run_quota >= 0),
  webhook_secret_sealed bytea,
  created_at timestamptz not null default db_clock()
);

create table flows (
  id uuid primary key,
  project_id text not null references projects,
  name text not null,
  description text,
  prompt text,
  instructions text,
  model text,
  disallowed_tools text[] not null default '{}',
  mcp_server_names text[] not null default '{}',
  env_names text[] not null default '{}',
  -- {env, mcpServers} as JSON text, sealed
  secrets_sealed bytea,
  image text,
  memory_bytes bigint not null,
  cpus double precision not null,
  network_policy text not null default 'limited' check (network_policy in ('limited', 'open', 'none')),
  allowed_hosts text[] not null default '{}',
  timeout_seconds integer check (timeout_seconds > 0),
  -- the id of the only host this flow may run on
  runner text,
  version integer not null default 1,
  created_at timestamptz not null default db_clock(),
  updated_at timestamptz not null default db_clock()
);
create index flows_by_project on flows (project_id, created_at, id);

create table api_keys (
  id uuid primary key,
  project_id text not null references projects,
  name text not null,
  created_by text not null,
  shown_prefix text not null,
  key_hash bytea not null unique,
  rate_limit_rpm integer not null default 60 check (rate_limit_rpm between 1 and 10000),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default db_clock()
);
create index api_keys_by_project on api_keys (project_id, created_at, id);

create table hosts (
  id text primary key,
  name text not null,
  capacity integer not null check (capacity >= 0),
  draining boolean not null default false,
  last_seen timestamptz not null default db_clock()
);
