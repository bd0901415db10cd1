-- Up Migration
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
  timeout_seconds integer not null check (timeout_seconds > 0),
  created_at timestamptz not null default db_clock(),
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
  webhook_attempts integer not null default 0,
  webhook_last_status integer,
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
create index runs_active on runs (id) where ended_at is null;
create index runs_by_project on runs (project_id, created_at desc, id desc);
create index runs_of_flow on runs (flow_id, created_at desc);
create index runs_with_pending_webhook on runs (ended_at) where webhook_state = 'pending';

-- Whether a run takes one of its project's places and one of its host's: from admission to the end,
-- a session's only while its sandbox is up.
create function takes_place(run runs) returns boolean language sql immutable as $$
  select run.ended_at is null and (run.session_id is null or run.status = 'running')
$$;

-- The quota's count lives apart from the runs: a run that is deleted still counts.
create table monthly_runs (
  project_id text not null references projects,
  -- first day of the UTC month
  month date not null,
  admitted integer not null,
  primary key (project_id, month)
);

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
