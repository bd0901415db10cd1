-- Up Migration
create table projects (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  name text not null,
  max_concurrent_runs integer not null default 10 check (max_concurrent_runs >= 0),
  monthly_run_quota integer check (monthly_run_quota >= 0),
  webhook_secret_sealed bytea,
  model_key_sealed bytea,
  model_base_url text,
  created_at timestamptz not null default now()
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
  cpus real not null,
  network_policy text not null default 'limited' check (network_policy in ('limited', 'open', 'none')),
  allowed_hosts text[] not null default '{}',
  timeout_seconds integer,
  -- the id of the only host this flow may run on
  runner text,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
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
  created_at timestamptz not null default now()
);

create table hosts (
  id text primary key,
  name text not null,
  capacity integer not null check (capacity >= 0),
  draining boolean not null default false,
  last_seen timestamptz not null default now()
);

create table runs (
  id uuid primary key,
  flow_id uuid not null references flows,
  project_id text not null references projects,
  name text,
  -- JSON text: jsonb would refuse \u0000
  labels text not null default '{}',
  status text not null default 'running' check (status in ('running', 'sleep')),
  agent_status text check (agent_status in ('working', 'idle', 'waiting', 'error')),
  trigger_type text not null check (trigger_type in ('api', 'dashboard', 'schedule')),
  prompt text not null,
  partial_messages boolean not null default false,
  session_id text,
  callback_url text,
  key_id uuid references api_keys,
  key_name text not null,
  key_created_by text not null,
  mcp_server_names text[] not null default '{}',
  timeout_seconds integer not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  end_cause text,
  end_detail text,
  end_cause_at timestamptz,
  ended_at timestamptz,
  deleted_at timestamptz,
  exit_code integer,
  result text,
  structured_output text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cache_read_input_tokens bigint not null default 0,
  cache_creation_input_tokens bigint not null default 0,
  cost_usd double precision,
  num_turns integer not null default 0,
  host_id text,
  generation integer not null default 1,
  workflow_id text not null unique,
  workflow_started_at timestamptz,
  webhook_state text not null default 'none'
    check (webhook_state in ('none', 'waiting', 'pending', 'delivered', 'dropped')),
  -- frozen when the run ends, sent bit for bit the same at every attempt
  webhook_body text,
  webhook_delivery_id uuid,
  -- what the snapshot left out, and why; JSON text
  snapshot text,
  check (ended_at is null or status = 'sleep'),
  check (ended_at is null or end_cause is not null)
);
create index runs_active_by_project on runs (project_id) where ended_at is null;
create index runs_active_by_host on runs (host_id) where ended_at is null;
create index runs_by_project on runs (project_id, created_at desc, id desc);
create index runs_of_month on runs (project_id, created_at) where trigger_type = 'api' and session_id is null;
create index runs_of_flow on runs (flow_id, created_at desc);

create table idempotency_keys (
  project_id text not null references projects,
  key text not null,
  run_id uuid not null references runs,
  window_start timestamptz not null,
  expires_at timestamptz not null,
  primary key (project_id, key)
);

-- The run's secret configuration, from admission to the sandbox's acknowledgement.
create table run_configs (
  run_id uuid primary key references runs,
  sealed bytea not null
);

-- Where the log of a run has got to, and who may write it.
create table cursors (
  run_id uuid primary key references runs,
  generation integer not null default 1,
  byte_offset bigint not null default 0,
  last_seq bigint not null default 0,
  lease_token bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz
);

create table frames (
  run_id uuid not null,
  seq bigint not null,
  at timestamptz not null default now(),
  event text not null,
  channel text not null check (channel in ('output', 'chat', 'other')),
  data text not null,
  primary key (run_id, seq)
);
create index frames_by_channel on frames (run_id, channel, seq);

create table blobs (
  sha256 bytea primary key,
  size bigint not null,
  complete boolean not null default false,
  created_at timestamptz not null default now()
);
create table blob_chunks (
  sha256 bytea not null references blobs on delete cascade,
  idx integer not null,
  data bytea not null,
  primary key (sha256, idx)
);

-- The working directory of a run as it was last stored.
create table run_files (
  run_id uuid not null references runs,
  path text not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  scope text not null default 'run' check (scope in ('flow', 'run')),
  modified_at timestamptz not null,
  primary key (run_id, path)
);

create table webhook_attempts (
  run_id uuid not null references runs,
  attempt integer not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  status integer,
  error text,
  primary key (run_id, attempt)
);
