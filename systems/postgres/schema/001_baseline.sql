-- The tables and indexes. Functions are in functions/, one per file, and are applied again whenever
-- their text changes. Timestamps come from db_clock(), the only clock of the service.

create table projects (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  name text not null,
  max_concurrent_runs integer not null default 10 check (max_concurrent_runs >= 0),
  max_open_sessions integer not null default 10000 check (max_open_sessions >= 0),
  monthly_run_quota integer check (monthly_run_quota >= 0),
  -- for model calls in a month (UTC); null: unlimited
  monthly_budget_usd double precision check (monthly_budget_usd >= 0),
  -- the limit of the stored bytes of all kinds together; null: unlimited
  storage_quota_bytes bigint default 53687091200 check (storage_quota_bytes >= 0),
  webhook_secret_sealed bytea,
  -- while the secret is rotated: the one that replaces it, and that signs beside it
  webhook_next_secret_sealed bytea,
  -- {apiKey, baseUrl} as JSON text, sealed; null: the service's model API is used
  model_sealed bytea,
  -- no run, session or message is accepted while it is set; all data stays
  archived_at timestamptz,
  created_at timestamptz not null default db_clock()
);

-- What each project stores in Postgres: the data of its frames, the blobs that it stored before any
-- other project did, and as `messages` the prompts, results and webhook bodies of its runs, the
-- events for its endpoints, the messages to its sessions with their replies, and the questions of
-- its agents with their answers.
-- The table has no foreign keys, so these rows never wait for each other.
create table stored_bytes (
  project_id text not null,
  kind text not null check (kind in ('files', 'transcripts', 'logs', 'messages')),
  bytes bigint not null,
  primary key (project_id, kind)
);

-- Changes of the sums in stored_bytes, written by the statements that store or remove the data.
-- Transactions only insert here, so those of one project do not wait for each other.
create table stored_bytes_changes (
  project_id text not null,
  kind text not null,
  bytes bigint not null
);
create index stored_bytes_changes_by_project on stored_bytes_changes (project_id);

create table flows (
  id uuid primary key,
  project_id text not null references projects,
  name text not null,
  description text,
  prompt text,
  instructions text,
  model text,
  -- further models that its agents may call
  allowed_models text[] not null default '{}',
  disallowed_tools text[] not null default '{}',
  mcp_server_names text[] not null default '{}',
  env_names text[] not null default '{}',
  -- {env, mcpServers} as JSON text, sealed
  secrets_sealed bytea,
  image text,
  memory_bytes bigint not null,
  cpus double precision not null,
  network_policy text not null default 'limited'
    check (network_policy in ('limited', 'open', 'none')),
  allowed_hosts text[] not null default '{}',
  timeout_seconds integer check (timeout_seconds > 0),
  max_turns integer check (max_turns > 0),
  max_budget_usd double precision check (max_budget_usd > 0),
  -- for the model calls of all its runs in a month (UTC); null: unlimited
  monthly_budget_usd double precision check (monthly_budget_usd >= 0),
  -- what its runs may start, see core/runs/child-runs.ts; null: nothing
  child_runs json,
  -- the id of the only host this flow may run on
  runner text,
  schedule_cron text,
  schedule_timezone text,
  -- the version whose schedule Temporal has; null: Temporal has no schedule of this flow
  schedule_synced_version integer,
  -- while it is set, the schedule starts no run
  schedule_paused_at timestamptz,
  -- how many starts Temporal had skipped when the schedule was synced last
  schedule_skipped_starts bigint not null default 0,
  -- the newest version of the flow's files, and their totals; changed under the lock of this row
  files_version bigint not null default 0,
  file_count integer not null default 0 check (file_count >= 0),
  storage_bytes bigint not null default 0 check (storage_bytes >= 0),
  -- all files of this version of the files and of later ones are kept
  files_kept_from bigint not null default 0,
  version integer not null default 1,
  -- no run starts while it is set; the runs that it has stay
  archived_at timestamptz,
  created_at timestamptz not null default db_clock(),
  updated_at timestamptz not null default db_clock(),
  check ((schedule_cron is null) = (schedule_timezone is null)),
  check (schedule_paused_at is null or schedule_cron is not null),
  -- a schedule has no request that could supply a prompt
  check (schedule_cron is null or prompt is not null)
);
create index flows_by_project on flows (project_id, created_at, id);
create index flows_with_schedule on flows (id)
  where schedule_cron is not null or schedule_synced_version is not null;

create table api_keys (
  id uuid primary key,
  project_id text not null references projects,
  name text not null,
  created_by text not null,
  shown_prefix text not null,
  key_hash bytea not null unique,
  rate_limit_rpm integer not null default 60 check (rate_limit_rpm between 1 and 10000),
  -- see core/keys/key-scopes.ts; null: everything that the interface gives a key
  scopes text[] check (cardinality(scopes) > 0),
  -- for the model calls of the runs that the key has started, in a month (UTC); null: unlimited
  monthly_budget_usd double precision check (monthly_budget_usd >= 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default db_clock()
);
create index api_keys_by_project on api_keys (project_id, created_at, id);

-- A token is for one run of its key, and is valid for at most an hour. The run may be deleted
-- before, so there is no foreign key.
create table run_tokens (
  token_hash bytea primary key,
  key_id uuid not null references api_keys,
  run_id uuid not null,
  expires_at timestamptz not null
);
create index run_tokens_by_expiry on run_tokens (expires_at);

create table key_usage (
  key_id uuid not null references api_keys,
  -- in UTC
  day date not null,
  calls bigint not null,
  errors bigint not null,
  duration_ms bigint not null,
  primary key (key_id, day)
);
create index key_usage_by_day on key_usage (day);

create table operators (
  id uuid primary key,
  name text not null unique,
  created_at timestamptz not null default db_clock()
);

-- One row for each change by operators, by the command line or by settings, written in the
-- transaction of the change. They have no foreign keys, because an operator or a token may be
-- removed.
create table audit_log (
  id uuid primary key,
  at timestamptz not null default db_clock(),
  -- see core/audit/audit-entry.ts
  source text not null,
  -- null, here and below: no operator made the change
  operator_id uuid,
  operator text,
  -- null: no token was used
  token_id uuid,
  address text not null,
  -- null: the change had no request
  request_id text,
  -- see core/audit/audit-entry.ts
  action text not null,
  -- null: a change of no project
  project_id text,
  object_id text not null,
  -- names of the changed fields that had a value before, and that have one after
  fields_before text[] not null,
  fields_after text[] not null
);
create index audit_log_by_time on audit_log (at, id);
create index audit_log_of_project on audit_log (project_id, at, id);
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
  for each statement execute function reject_change();

-- Facts about the installation, which remain forever. `first_operator_invited` stays when the last
-- operator is removed, so that a later start of the API logs no sign-in link. `model_key_seen`: a
-- host had a model key, so a host without one no longer uses the offline model by default.
create table installation (
  fact text primary key
);

-- Distinguishes this database from others. A copy of it has the same id.
create table database_identity (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);
insert into database_identity default values;

-- The Temporal that has the workflows of this database: one row, written by the first process that
-- reads its identity. A process that is connected to another one stops.
create table temporal_identity (
  is_only boolean primary key default true check (is_only),
  -- null: the server does not permit the service to read it
  cluster_id text,
  -- null: the database was restored; the next process stores the identity that it finds
  namespace_id text,
  namespace text,
  -- the time until which an operator has accepted that workflows may be missing
  losses_accepted_at timestamptz,
  -- set while so many workflows are missing that the reconciler ends none of their runs
  missing_workflows integer,
  described_workflows integer,
  missing_since timestamptz,
  missing_seen_at timestamptz,
  check ((namespace_id is null) = (namespace is null)),
  check ((missing_since is null) = (missing_seen_at is null))
);

-- One-time sign-in links. Codes and session tokens have 256 random bits, so a plain hash is stored.
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

create table operator_tokens (
  id uuid primary key,
  operator_id uuid not null references operators on delete cascade,
  name text not null,
  shown_prefix text not null,
  token_hash bytea not null unique,
  -- null: all projects; a project may be created later
  project_ids text[] check (cardinality(project_ids) > 0),
  expires_at timestamptz not null,
  created_at timestamptz not null default db_clock()
);
create index operator_tokens_of_operator on operator_tokens (operator_id);

create table hosts (
  id text primary key,
  name text not null,
  capacity integer not null check (capacity >= 0),
  draining boolean not null default false,
  last_seen timestamptz not null default db_clock(),
  -- when its worker was stopped; null while a worker runs, and after a crash
  stopped_at timestamptz,
  -- true if its disk has too little free space, so it gets no new work
  disk_short boolean not null default false,
  -- its model for projects without a model key, see core/hosts/host-model.ts
  model text not null check (model in ('key', 'offline', 'offline_by_default', 'none')),
  -- incremented by each heartbeat; the worker stores it in its data folder as well
  heartbeats bigint not null default 0,
  -- when the Postgres server was started that received its last heartbeat
  server_started_at timestamptz not null default pg_postmaster_start_time(),
  -- the host's engine, image, disk and clock; shown to operators, and used for no decision
  report json
);

-- The latest versions of each flow. A change deletes the oldest ones.
create table flow_versions (
  flow_id uuid not null references flows,
  version integer not null,
  -- the version that stores the definition
  definition_version integer not null,
  -- see flow_definition.sql; null: another version stores it
  definition json check ((definition is null) = (definition_version < version)),
  -- of the files of the flow
  files_version bigint not null,
  file_count integer not null,
  storage_bytes bigint not null,
  -- the fields that differ from the version before; of the first version all
  changed_fields text[] not null,
  -- the names of the secrets that differ, such as env.TOKEN
  changed_secrets text[] not null,
  -- the name of an operator or a key, or the user of the command line; null: not known
  changed_by text,
  changed_at timestamptz not null default db_clock(),
  primary key (flow_id, version)
);

-- The latest starts of each schedule. An insert deletes the oldest ones.
create table scheduled_starts (
  flow_id uuid not null references flows,
  -- the ID of its run, also if the run was rejected
  run_id uuid not null,
  -- the time that the schedule had set
  scheduled_at timestamptz not null,
  decided_at timestamptz not null default db_clock(),
  -- why no run was admitted; null: the run was admitted
  rejected_code text,
  primary key (flow_id, scheduled_at, run_id)
);

-- Each row names the worker that uses a host's ID. If a data folder was copied, several workers
-- have the same ID, and only one of them may run. The row is deleted when the owner stops.
create table host_leases (
  host_id text primary key,
  -- the machine and the data folder of the worker
  owner text not null,
  -- another worker watches this number: it is incremented while the owner is alive
  renewals bigint not null default 0,
  expires_at timestamptz not null
);

-- Each row names the worker that does one of the reconciler's jobs that cover all hosts.
create table reconciler_jobs (
  name text primary key,
  -- the worker's host; null between two passes of a job whose leader may change
  leader text,
  -- when another worker may claim the job: its leader has died by then, or the job is due again
  free_at timestamptz not null
);

-- The order in which projects got slots for waiting runs. Rows are written only under the placement
-- lock. The table has no foreign key, so no row of a project is locked under that lock.
create table project_turns (
  project_id text primary key,
  turn bigint not null
);

-- Pages of tables whose rows are updated often have free space, so that the next version of a row
-- fits beside it. If no indexed column changes either, the update writes to no index.
create table runs (
  id uuid primary key,
  flow_id uuid not null references flows,
  project_id text not null references projects,
  name text,
  -- JSON text: jsonb would reject \u0000
  labels text not null default '{}',
  -- the labels at admission, if they have changed since
  admitted_labels text,
  -- running: a plain run until its end, a session while it has a sandbox
  status text not null default 'running' check (status in ('running', 'sleep')),
  agent_status text check (agent_status in ('working', 'idle', 'waiting', 'error')),
  trigger_type text not null check (trigger_type in ('api', 'dashboard', 'schedule')),
  prompt text not null,
  partial_messages boolean not null default false,
  session_id text,
  callback_url text,
  -- the API request that created the run, for the logs of the workers; null: a schedule created it
  request_id text,
  retry_of uuid,
  -- the runs above it, its root first and its parent last; empty: no run has started it
  ancestor_ids uuid[] not null default '{}',
  key_id uuid references api_keys,
  key_name text not null,
  key_created_by text not null,
  mcp_server_names text[] not null default '{}',
  -- the fields of the secret configuration that the request had; their values are deleted
  secret_fields text[] not null default '{}',
  -- {name: value} as JSON text, sealed; for operators, stored as long as the run
  context_sealed bytea,
  -- fixed at admission: a later change of the flow does not affect the run
  timeout_seconds integer not null check (timeout_seconds > 0),
  model text,
  max_turns integer check (max_turns > 0),
  max_budget_usd double precision check (max_budget_usd > 0),
  -- JSON text
  output_schema text,
  -- the version of the flow's files that the run starts from
  files_version bigint not null default 0,
  -- the version of the flow at that time; null: not known, for a run that was lost in a restore
  flow_version integer,
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
  -- the number of its calls in the ledger; their cost is in nano-dollars, and null if a price is
  -- unknown
  model_calls bigint not null default 0,
  cost_nanos bigint,
  -- without the calls whose price is unknown
  known_cost_nanos bigint not null default 0,
  num_turns integer not null default 0,
  host_id text,
  -- true for a session, from the transaction that stores a message until it is put to sleep
  holds_slot boolean not null default false,
  generation integer not null default 1,
  -- when it began to wait for a slot of a host; null once its workflow has the host
  waiting_since timestamptz,
  workflow_id text not null unique,
  workflow_started_at timestamptz,
  webhook_state text not null default 'none'
    check (webhook_state in ('none', 'waiting', 'pending', 'delivered', 'dropped')),
  webhook_attempts integer not null default 0,
  webhook_last_status integer,
  -- stored at the run's end, so that every attempt sends the same bytes
  webhook_body text,
  webhook_delivery_id uuid,
  -- whether its first delivery waits with those of all projects, and not with those of a backlog
  webhook_uses_common_slots boolean not null default false,
  -- how many further deliveries operators have requested
  webhook_redeliveries integer not null default 0,
  -- when the last one was claimed; null once its workflow was started
  webhook_redelivery_claimed_at timestamptz,
  -- whether the offline model has answered its agent
  offline_model boolean not null default false,
  -- the entries that the snapshot omitted, and why; JSON text
  snapshot text,
  -- the digest of the stored files, links and folders; storing the same again changes nothing
  tree_digest bytea,
  -- true if the run has ended and its final files are not stored; its host retries
  has_unstored_files boolean not null default false,
  -- set by retention, also when there was nothing to delete
  log_purged_at timestamptz,
  files_purged_at timestamptz,
  -- retention has deleted input files that a retry would copy
  has_purged_inputs boolean not null default false,
  -- the agent's status unless the run occupies a slot, where it changes often: a change of an
  -- indexed column writes to every index of the table
  resting_agent_status text generated always as (
    case when ended_at is not null or session_id is not null and not holds_slot then agent_status end
  ) stored,
  -- since when the run has a cause to end; null once it has ended. The planner cannot know how few
  -- runs have one of two columns and not the other.
  stopping_since timestamptz generated always as (
    case when ended_at is null then end_cause_at end
  ) stored,
  check (ended_at is null or status = 'sleep'),
  check (ended_at is null or end_cause is not null)
) with (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
create index runs_active on runs (id) where ended_at is null;
-- The condition is that of occupies_slot. A project may have many sleeping sessions, which are not
-- counted.
create index runs_occupying_slots on runs (project_id)
  where ended_at is null and (session_id is null or holds_slot);
create index runs_active_by_host on runs (host_id) where ended_at is null;
create index runs_unstarted on runs (created_at)
  where ended_at is null and workflow_started_at is null;
create index runs_stopping on runs (stopping_since) where stopping_since is not null;
create index runs_active_by_files on runs (flow_id, files_version) where ended_at is null;
create index runs_of_tree on runs ((ancestor_ids[1])) where ancestor_ids <> '{}';
create index runs_waiting on runs (waiting_since, id)
  where ended_at is null and waiting_since is not null;
create index runs_by_project on runs (project_id, created_at desc, id desc);
create index runs_by_session on runs (project_id, session_id, created_at desc, id desc)
  where session_id is not null;
-- The index is not partial, because Postgres has no statistics on the expression of a partial
-- index, and would treat a rare label as a common one.
create index runs_by_label on runs using gin (label_pairs(labels));
create index runs_of_flow on runs (flow_id, created_at desc);
-- These indexes serve lists: a page of runs that are rare in a project must not read all of its
-- runs.
create index runs_by_agent_status
  on runs (project_id, resting_agent_status, created_at desc, id desc)
  where resting_agent_status is not null;
create index runs_by_trigger_type on runs (project_id, trigger_type, created_at desc, id desc);
create index sessions_of_flow on runs (flow_id, created_at desc, id desc)
  where session_id is not null;
create index open_sessions_of_flow on runs (flow_id, created_at desc, id desc)
  where session_id is not null and ended_at is null;
create index runs_with_pending_webhook on runs (ended_at) where webhook_state = 'pending';
create index runs_with_pending_webhook_by_project on runs (project_id, ended_at, id)
  where webhook_state = 'pending';
create index runs_with_webhook_in_common_slots on runs (ended_at)
  where webhook_state = 'pending' and webhook_uses_common_slots;
create index runs_with_claimed_redelivery on runs (webhook_redelivery_claimed_at)
  where webhook_redelivery_claimed_at is not null;
create index runs_with_log on runs (ended_at) where ended_at is not null and log_purged_at is null;
create index runs_with_files on runs (ended_at)
  where ended_at is not null and files_purged_at is null and session_id is null;
create index sessions_with_files on runs (ended_at)
  where ended_at is not null and files_purged_at is null and session_id is not null;
create index runs_with_unstored_files on runs (host_id)
  where has_unstored_files and files_purged_at is null;
create index runs_deleted on runs (deleted_at) where deleted_at is not null;

-- The count is separate from the runs, because a deleted run still counts towards the quota.
create table monthly_runs (
  project_id text not null references projects,
  -- first day of the UTC month
  month date not null,
  admitted integer not null,
  primary key (project_id, month)
);

-- The number of sessions of a project that have not ended. Too many sleep to count them at each
-- opening. It changes in the transactions that open and end a session.
create table open_sessions (
  project_id text primary key references projects,
  count integer not null
);

create table idempotency_keys (
  project_id text not null references projects,
  key text not null,
  run_id uuid not null references runs,
  window_start timestamptz not null,
  expires_at timestamptz not null,
  primary key (project_id, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
create index idempotency_keys_of_run on idempotency_keys (run_id);

-- The run's secret configuration, from admission until the sandbox acknowledges it.
create table run_configs (
  run_id uuid primary key references runs,
  sealed bytea not null
);

-- The head of each run's log: its last frame, how far the spool was read, and who may write.
create table run_logs (
  run_id uuid primary key references runs,
  generation integer not null default 1,
  byte_offset bigint not null default 0,
  last_seq bigint not null default 0,
  -- the batch that last advanced byte_offset: a writer whose commit was not confirmed finds it here
  last_batch_offset bigint,
  last_batch_seq bigint,
  lease_token bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz,
  -- the state of the agent after the lines before byte_offset; JSON text
  agent_state text,
  -- set at the run's end: nothing is appended any more
  is_final boolean not null default false,
  -- since the run's end, until all of its frames are in packed_frames
  unpacked_since timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

create index run_logs_to_pack on run_logs (unpacked_since) where unpacked_since is not null;

create table frames (
  run_id uuid not null,
  seq bigint not null,
  at timestamptz not null,
  event text not null,
  channel text not null check (channel in ('output', 'chat', 'other')),
  data text not null,
  primary key (run_id, seq)
);
create index frames_by_channel on frames (run_id, channel, seq);

-- The frames of ended runs, several in a row. Those of a run that are not packed yet follow the
-- packed ones. No foreign key references the run, as for frames.
create table packed_frames (
  run_id uuid not null,
  first_seq bigint not null,
  last_seq bigint not null,
  -- of these frames
  channels text[] not null,
  -- compressed, see packed-frames.ts
  data bytea not null,
  primary key (run_id, first_seq)
);
alter table packed_frames alter column data set storage external;

-- The agent's questions. The first answer counts; the agent's output shows whether it was used.
create table interactions (
  run_id uuid not null references runs,
  id text not null,
  tool_name text not null,
  -- as the agent wrote it; JSON text
  input text not null,
  asked_at timestamptz not null default db_clock(),
  -- JSON text
  answers text,
  answered_at timestamptz,
  -- null while the agent waits for an answer
  outcome text check (outcome in ('answered', 'withdrawn')),
  primary key (run_id, id)
);
create index interactions_open on interactions (run_id, asked_at) where outcome is null;

-- The ledger: one row per model call that the gateway forwarded. No foreign key references the run,
-- because the rows outlive it.
create table model_calls (
  id uuid primary key,
  run_id uuid not null,
  -- the message whose turn made the call; null for a plain run
  message_id uuid,
  project_id text not null,
  flow_id uuid not null,
  key_id uuid,
  -- the labels at admission; JSON text
  labels text not null,
  model text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  -- the HTTP status of the answer; null: none arrived
  status integer,
  is_cut_off boolean not null,
  -- the answer did not report the final usage, so the token counts are estimated
  is_estimated boolean not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_5m_tokens bigint not null,
  cache_write_1h_tokens bigint not null,
  web_searches bigint not null,
  -- prices in nano-dollars, JSON text; null: unknown
  price text,
  cost_nanos bigint,
  check ((price is null) = (cost_nanos is null))
);
create index model_calls_of_run on model_calls (run_id, started_at);
create index model_calls_by_end on model_calls (ended_at);

-- Sums of the ledger, per turn and per day in UTC.
create table turn_spending (
  -- the message, or the run if it is a plain one
  turn_id uuid not null,
  day date not null,
  run_id uuid not null,
  calls bigint not null,
  -- calls whose price is unknown; cost_nanos does not include them
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  cost_nanos bigint not null,
  primary key (turn_id, day)
);
create index turn_spending_by_day on turn_spending (day);

create table daily_spending (
  day date not null,
  project_id text not null,
  flow_id uuid not null,
  key_id uuid,
  model text not null,
  calls bigint not null,
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  cost_nanos bigint not null,
  unique nulls not distinct (project_id, day, flow_id, key_id, model)
);
create index daily_spending_by_day on daily_spending (day);

-- The same per label at admission. A call is in the row of each label of its run.
create table daily_label_spending (
  project_id text not null,
  label text collate "C" not null,
  day date not null,
  -- JSON text, as in the run's labels
  value text collate "C" not null,
  calls bigint not null,
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  cost_nanos bigint not null,
  primary key (project_id, label, day, value)
);
create index daily_label_spending_by_day on daily_label_spending (day);

-- What the model calls of a month have cost, for monthly budgets. Calls whose price is unknown are
-- not included.
create table monthly_spending (
  project_id text not null,
  -- whose runs made the calls
  owner text not null check (owner in ('project', 'flow', 'key')),
  owner_id text not null,
  -- its first day
  month date not null,
  cost_nanos bigint not null,
  primary key (project_id, owner, owner_id, month)
);
create index monthly_spending_by_month on monthly_spending (month);

-- The thresholds of monthly budgets that were passed, so that each is reported once.
create table passed_thresholds (
  project_id text not null,
  -- whose budget it is
  owner text not null check (owner in ('project', 'flow', 'key')),
  owner_id text not null,
  -- its first day
  month date not null,
  percent integer not null,
  -- the highest budget of which the threshold was passed
  budget_usd double precision not null,
  primary key (project_id, owner, owner_id, month, percent)
);
create index passed_thresholds_by_month on passed_thresholds (month);

create table webhook_attempts (
  run_id uuid not null references runs,
  -- 0: the delivery at the run's end; n: the n-th that an operator requested
  delivery integer not null default 0,
  attempt integer not null check (attempt >= 1),
  started_at timestamptz not null default db_clock(),
  finished_at timestamptz,
  status integer,
  error text,
  -- who claimed it: Temporal's run ID of the workflow, and the number of its activity's execution
  claimed_by text,
  execution integer,
  primary key (run_id, delivery, attempt)
);
create index webhook_attempts_by_start on webhook_attempts (started_at);

-- Where events of a project are sent to, in addition to the callback URLs of its runs. A removed
-- endpoint stays, because its events refer to it.
create table webhook_endpoints (
  id uuid primary key,
  project_id text not null references projects,
  -- null: its events are only stored, for a program that reads them
  url text,
  event_types text[] not null check (cardinality(event_types) > 0),
  created_at timestamptz not null default db_clock(),
  -- nothing is sent to it any more
  removed_at timestamptz
);
create index webhook_endpoints_by_project on webhook_endpoints (project_id, created_at, id)
  where removed_at is null;

-- Events of projects: a row for each endpoint or callback URL that gets the event, inserted in the
-- transaction of the change that it reports. No foreign key references the run, because the rows
-- may outlive it.
create table webhook_events (
  -- also the ID of the delivery
  id uuid primary key default gen_random_uuid(),
  -- null: sent to the callback URL of the session
  endpoint_id uuid references webhook_endpoints,
  project_id text not null,
  run_id uuid,
  request_id text,
  event text not null,
  -- every attempt sends the same bytes
  body text not null,
  -- held: its endpoint had no URL
  state text not null default 'pending'
    check (state in ('pending', 'delivered', 'dropped', 'held')),
  attempts integer not null default 0,
  last_status integer,
  -- how many further deliveries operators have requested
  redeliveries integer not null default 0,
  created_at timestamptz not null default db_clock(),
  -- when a worker starts the workflow of a pending event, again if the workflow is gone by then
  start_at timestamptz not null default db_clock()
);
create index webhook_events_to_start on webhook_events (project_id, start_at)
  where state = 'pending';
create index webhook_events_of_endpoint
  on webhook_events (endpoint_id, created_at desc, id desc);
create index webhook_events_of_session
  on webhook_events (run_id, created_at desc, id desc) where endpoint_id is null;
create index webhook_events_by_age on webhook_events (created_at);

-- The attempts of these events, like those of runs.
create table webhook_event_attempts (
  event_id uuid not null references webhook_events on delete cascade,
  delivery integer not null default 0,
  attempt integer not null check (attempt >= 1),
  started_at timestamptz not null default db_clock(),
  finished_at timestamptz,
  status integer,
  error text,
  claimed_by text,
  execution integer,
  primary key (event_id, delivery, attempt)
);

-- A row is visible only together with all of its chunks: both are written in one transaction.
create table blobs (
  sha256 bytea primary key check (length(sha256) = 32),
  size bigint not null,
  -- the project that stored it first, whose stored bytes include it
  project_id text,
  kind text not null default 'files',
  created_at timestamptz not null default db_clock()
);

create table blob_chunks (
  sha256 bytea not null references blobs on delete cascade,
  idx integer not null,
  data bytea not null,
  primary key (sha256, idx)
);
-- Chunks are not compressed, so that a range of a chunk is read without reading all of it.
alter table blob_chunks alter column data set storage external;

-- The working directory of a run as it was last stored.
create table run_files (
  run_id uuid not null references runs,
  path text collate "C" not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  scope text not null default 'run' check (scope in ('flow', 'run')),
  modified_at timestamptz not null,
  -- names of one file (hard links) have the same number; null: the file has one name
  link_group integer,
  primary key (run_id, path)
);
create index run_files_of_blob on run_files (sha256);

-- The symbolic links of a working directory. The service never follows a target.
create table run_links (
  run_id uuid not null references runs,
  path text collate "C" not null,
  target text not null,
  modified_at timestamptz not null,
  primary key (run_id, path)
);

-- The folders of a working directory, including empty ones.
create table run_folders (
  run_id uuid not null references runs,
  path text collate "C" not null,
  mode integer not null,
  modified_at timestamptz not null,
  primary key (run_id, path)
);

-- Every version of a flow's files that an active run may start from. A row belongs to the versions
-- from valid_from up to, not including, valid_to; without valid_to also to the newest.
create table flow_files (
  flow_id uuid not null references flows,
  path text collate "C" not null,
  valid_from bigint not null,
  valid_to bigint,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  modified_at timestamptz not null,
  primary key (flow_id, path, valid_from),
  check (valid_to > valid_from)
);
create unique index flow_files_newest on flow_files (flow_id, path) where valid_to is null;
create index flow_files_of_blob on flow_files (sha256);
create index flow_files_superseded on flow_files (flow_id, valid_to) where valid_to is not null;

-- Files that requests have added to a run's working directory. This includes the flow's own files:
-- the run has a copy that later changes of the flow do not affect.
create table input_files (
  run_id uuid not null references runs,
  path text collate "C" not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  scope text not null check (scope in ('flow', 'run')),
  modified_at timestamptz not null,
  -- true while the file waits for the session's next turn, because no sandbox has it yet
  is_pending boolean not null default false,
  primary key (run_id, path)
);
create index input_files_of_blob on input_files (sha256);
create index input_files_pending on input_files (run_id) where is_pending;

create table sessions (
  run_id uuid primary key references runs,
  flow_id uuid not null references flows,
  session_id text not null,
  -- JSON text, sealed; deleted at the session's end
  config_sealed bytea,
  -- incremented by every change
  config_version integer not null default 1,
  -- the sandbox that was started last, and the configuration that it received
  started_generation integer not null default 0,
  started_config_version integer not null default 0,
  -- the last sandbox that fetched its configuration
  acknowledged_generation integer not null default 0,
  last_host_id text,
  -- when the working directory was stored; it lacks newer input files
  snapshot_at timestamptz,
  last_message_at timestamptz,
  -- when the last message was finished
  idle_since timestamptz not null default db_clock(),
  unique (flow_id, session_id)
) with (fillfactor = 75);

create table session_messages (
  id uuid primary key,
  run_id uuid not null references sessions,
  position bigint not null,
  client_message_id text,
  text text not null,
  created_at timestamptz not null default db_clock(),
  -- when the session's workflow received the signal
  signalled_at timestamptz,
  -- the sandbox that received the message last, and how many sandboxes have received it
  generation integer,
  delivery_attempts integer not null default 0,
  started_at timestamptz,
  -- whether that sandbox's agent has started the turn
  is_accepted boolean not null default false,
  ended_at timestamptz,
  exit_code integer,
  reply text,
  -- why the service failed the turn; null: the agent ended it, successfully or not
  error text,
  unique (run_id, position),
  unique (run_id, client_message_id)
) with (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
create index session_messages_left on session_messages (run_id, position) where ended_at is null;
create index session_messages_unsignalled on session_messages (created_at)
  where ended_at is null and signalled_at is null;

-- Files that were sent with a message. Each sandbox that receives the message gets them right
-- before the turn starts.
create table message_files (
  message_id uuid not null references session_messages on delete cascade,
  path text collate "C" not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  scope text not null check (scope in ('flow', 'run')),
  -- the sandbox that received them last
  generation integer,
  primary key (message_id, path)
);
create index message_files_of_blob on message_files (sha256);

-- The agent's conversation as it was last stored, apart from the working directory.
create table session_transcripts (
  run_id uuid not null references sessions,
  path text collate "C" not null,
  -- the hash of the whole content, which is stored in segments and not as one blob
  sha256 bytea not null check (length(sha256) = 32),
  size bigint not null,
  mode integer not null,
  modified_at timestamptz not null,
  primary key (run_id, path)
);

-- The content of a transcript, in order: what each save added to it. A save that finds other
-- content before its end replaces the segments.
create table transcript_segments (
  run_id uuid not null,
  path text collate "C" not null,
  -- the position of the first byte
  at bigint not null,
  sha256 bytea not null references blobs,
  size bigint not null check (size > 0),
  primary key (run_id, path, at),
  foreign key (run_id, path) references session_transcripts on delete cascade
);
create index transcript_segments_of_blob on transcript_segments (sha256);

-- Requests of API processes to the host of a run. A row is deleted when its answer has been read,
-- or when it expires.
create table host_rpc_requests (
  id uuid primary key,
  host_id text not null,
  project_id text not null,
  run_id uuid not null,
  kind text not null,
  -- JSON text
  payload text not null,
  -- JSON text; null until the host answers
  result text,
  expires_at timestamptz not null
);
create index host_rpc_requests_open on host_rpc_requests (host_id) where result is null;
create index host_rpc_requests_by_expiry on host_rpc_requests (expires_at);

-- The restores of this database: from a backup, or because a worker found that it has lost commits.
-- Temporal, the hosts and the webhook receivers may have newer data. A restore is reconciled once
-- the database was compared with Temporal.
create table restores (
  id uuid primary key default gen_random_uuid(),
  -- when the backup was made, or a time before the lost commits
  dumped_at timestamptz not null,
  restored_at timestamptz not null default db_clock(),
  reconciled_at timestamptz
);
