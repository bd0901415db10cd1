CREATE TABLE public.hosts (
    id text NOT NULL,
    name text NOT NULL,
    capacity integer NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    last_seen timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    stopped_at timestamp with time zone,
    disk_short boolean DEFAULT false NOT NULL,
    model text NOT NULL,
    heartbeats bigint DEFAULT 0 NOT NULL,
    server_started_at timestamp with time zone DEFAULT pg_postmaster_start_time() NOT NULL,
    report json,
    CONSTRAINT hosts_capacity_check CHECK ((capacity >= 0)),
    CONSTRAINT hosts_model_check CHECK ((model = ANY (ARRAY['key'::text, 'offline'::text, 'offline_by_default'::text, 'none'::text])))
);

CREATE TABLE public.runs (
    id uuid NOT NULL,
    flow_id uuid NOT NULL,
    project_id text NOT NULL,
    name text,
    labels text DEFAULT '{}'::text NOT NULL,
    admitted_labels text,
    status text DEFAULT 'running'::text NOT NULL,
    agent_status text,
    trigger_type text NOT NULL,
    prompt text NOT NULL,
    partial_messages boolean DEFAULT false NOT NULL,
    session_id text,
    callback_url text,
    request_id text,
    retry_of uuid,
    ancestor_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    key_id uuid,
    key_name text NOT NULL,
    key_created_by text NOT NULL,
    mcp_server_names text[] DEFAULT '{}'::text[] NOT NULL,
    secret_fields text[] DEFAULT '{}'::text[] NOT NULL,
    context_sealed bytea,
    timeout_seconds integer NOT NULL,
    model text,
    max_turns integer,
    max_budget_usd double precision,
    output_schema text,
    files_version bigint DEFAULT 0 NOT NULL,
    flow_version integer,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    started_at timestamp with time zone,
    end_cause text,
    end_detail text,
    end_cause_at timestamp with time zone,
    ended_at timestamp with time zone,
    deleted_at timestamp with time zone,
    exit_code integer,
    result text,
    structured_output text,
    input_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    cache_read_input_tokens bigint DEFAULT 0 NOT NULL,
    cache_creation_input_tokens bigint DEFAULT 0 NOT NULL,
    model_calls bigint DEFAULT 0 NOT NULL,
    cost_nanos bigint,
    known_cost_nanos bigint DEFAULT 0 NOT NULL,
    num_turns integer DEFAULT 0 NOT NULL,
    host_id text,
    holds_slot boolean DEFAULT false NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    waiting_since timestamp with time zone,
    workflow_id text NOT NULL,
    workflow_started_at timestamp with time zone,
    webhook_state text DEFAULT 'none'::text NOT NULL,
    webhook_attempts integer DEFAULT 0 NOT NULL,
    webhook_last_status integer,
    webhook_body text,
    webhook_delivery_id uuid,
    webhook_uses_common_slots boolean DEFAULT false NOT NULL,
    webhook_redeliveries integer DEFAULT 0 NOT NULL,
    webhook_redelivery_claimed_at timestamp with time zone,
    offline_model boolean DEFAULT false NOT NULL,
    snapshot text,
    tree_digest bytea,
    has_unstored_files boolean DEFAULT false NOT NULL,
    log_purged_at timestamp with time zone,
    files_purged_at timestamp with time zone,
    has_purged_inputs boolean DEFAULT false NOT NULL,
    resting_agent_status text GENERATED ALWAYS AS (
CASE
    WHEN ((ended_at IS NOT NULL) OR ((session_id IS NOT NULL) AND (NOT holds_slot))) THEN agent_status
    ELSE NULL::text
END) STORED,
    stopping_since timestamp with time zone GENERATED ALWAYS AS (
CASE
    WHEN (ended_at IS NULL) THEN end_cause_at
    ELSE NULL::timestamp with time zone
END) STORED,
    CONSTRAINT runs_agent_status_check CHECK ((agent_status = ANY (ARRAY['working'::text, 'idle'::text, 'waiting'::text, 'error'::text]))),
    CONSTRAINT runs_check CHECK (((ended_at IS NULL) OR (status = 'sleep'::text))),
    CONSTRAINT runs_check1 CHECK (((ended_at IS NULL) OR (end_cause IS NOT NULL))),
    CONSTRAINT runs_max_budget_usd_check CHECK ((max_budget_usd > (0)::double precision)),
    CONSTRAINT runs_max_turns_check CHECK ((max_turns > 0)),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'sleep'::text]))),
    CONSTRAINT runs_timeout_seconds_check CHECK ((timeout_seconds > 0)),
    CONSTRAINT runs_trigger_type_check CHECK ((trigger_type = ANY (ARRAY['api'::text, 'dashboard'::text, 'schedule'::text]))),
    CONSTRAINT runs_webhook_state_check CHECK ((webhook_state = ANY (ARRAY['none'::text, 'waiting'::text, 'pending'::text, 'delivered'::text, 'dropped'::text])))
)
WITH (fillfactor='75', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.flows (
    id uuid NOT NULL,
    project_id text NOT NULL,
    name text NOT NULL,
    description text,
    prompt text,
    instructions text,
    model text,
    allowed_models text[] DEFAULT '{}'::text[] NOT NULL,
    disallowed_tools text[] DEFAULT '{}'::text[] NOT NULL,
    mcp_server_names text[] DEFAULT '{}'::text[] NOT NULL,
    env_names text[] DEFAULT '{}'::text[] NOT NULL,
    secrets_sealed bytea,
    image text,
    memory_bytes bigint NOT NULL,
    cpus double precision NOT NULL,
    network_policy text DEFAULT 'limited'::text NOT NULL,
    allowed_hosts text[] DEFAULT '{}'::text[] NOT NULL,
    timeout_seconds integer,
    max_turns integer,
    max_budget_usd double precision,
    monthly_budget_usd double precision,
    child_runs json,
    runner text,
    schedule_cron text,
    schedule_timezone text,
    schedule_synced_version integer,
    schedule_paused_at timestamp with time zone,
    schedule_skipped_starts bigint DEFAULT 0 NOT NULL,
    files_version bigint DEFAULT 0 NOT NULL,
    file_count integer DEFAULT 0 NOT NULL,
    storage_bytes bigint DEFAULT 0 NOT NULL,
    files_kept_from bigint DEFAULT 0 NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT flows_check CHECK (((schedule_cron IS NULL) = (schedule_timezone IS NULL))),
    CONSTRAINT flows_check1 CHECK (((schedule_paused_at IS NULL) OR (schedule_cron IS NOT NULL))),
    CONSTRAINT flows_check2 CHECK (((schedule_cron IS NULL) OR (prompt IS NOT NULL))),
    CONSTRAINT flows_file_count_check CHECK ((file_count >= 0)),
    CONSTRAINT flows_max_budget_usd_check CHECK ((max_budget_usd > (0)::double precision)),
    CONSTRAINT flows_max_turns_check CHECK ((max_turns > 0)),
    CONSTRAINT flows_monthly_budget_usd_check CHECK ((monthly_budget_usd >= (0)::double precision)),
    CONSTRAINT flows_network_policy_check CHECK ((network_policy = ANY (ARRAY['limited'::text, 'open'::text, 'none'::text]))),
    CONSTRAINT flows_storage_bytes_check CHECK ((storage_bytes >= 0)),
    CONSTRAINT flows_timeout_seconds_check CHECK ((timeout_seconds > 0))
);

CREATE TABLE public.sessions (
    run_id uuid NOT NULL,
    flow_id uuid NOT NULL,
    session_id text NOT NULL,
    config_sealed bytea,
    config_version integer DEFAULT 1 NOT NULL,
    started_generation integer DEFAULT 0 NOT NULL,
    started_config_version integer DEFAULT 0 NOT NULL,
    acknowledged_generation integer DEFAULT 0 NOT NULL,
    last_host_id text,
    snapshot_at timestamp with time zone,
    last_message_at timestamp with time zone,
    idle_since timestamp with time zone DEFAULT public.db_clock() NOT NULL
)
WITH (fillfactor='75');

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    project_id text NOT NULL,
    name text NOT NULL,
    created_by text NOT NULL,
    shown_prefix text NOT NULL,
    key_hash bytea NOT NULL,
    rate_limit_rpm integer DEFAULT 60 NOT NULL,
    scopes text[],
    monthly_budget_usd double precision,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT api_keys_monthly_budget_usd_check CHECK ((monthly_budget_usd >= (0)::double precision)),
    CONSTRAINT api_keys_rate_limit_rpm_check CHECK (((rate_limit_rpm >= 1) AND (rate_limit_rpm <= 10000))),
    CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0))
);

CREATE TABLE public.audit_log (
    id uuid NOT NULL,
    at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    source text NOT NULL,
    operator_id uuid,
    operator text,
    token_id uuid,
    address text NOT NULL,
    request_id text,
    action text NOT NULL,
    project_id text,
    object_id text NOT NULL,
    fields_before text[] NOT NULL,
    fields_after text[] NOT NULL
);

CREATE TABLE public.blob_chunks (
    sha256 bytea NOT NULL,
    idx integer NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE public.blobs (
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    project_id text,
    kind text DEFAULT 'files'::text NOT NULL,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT blobs_sha256_check CHECK ((length(sha256) = 32))
);

CREATE TABLE public.daily_label_spending (
    project_id text NOT NULL,
    label text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL,
    unpriced_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    cost_nanos bigint NOT NULL
);

CREATE TABLE public.daily_spending (
    day date NOT NULL,
    project_id text NOT NULL,
    flow_id uuid NOT NULL,
    key_id uuid,
    model text NOT NULL,
    calls bigint NOT NULL,
    unpriced_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    cost_nanos bigint NOT NULL
);

CREATE TABLE public.database_identity (
    is_only boolean DEFAULT true NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT database_identity_is_only_check CHECK (is_only)
);

CREATE TABLE public.flow_files (
    flow_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    valid_from bigint NOT NULL,
    valid_to bigint,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    mode integer NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    CONSTRAINT flow_files_check CHECK ((valid_to > valid_from))
);

CREATE TABLE public.flow_versions (
    flow_id uuid NOT NULL,
    version integer NOT NULL,
    definition_version integer NOT NULL,
    definition json,
    files_version bigint NOT NULL,
    file_count integer NOT NULL,
    storage_bytes bigint NOT NULL,
    changed_fields text[] NOT NULL,
    changed_secrets text[] NOT NULL,
    changed_by text,
    changed_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT flow_versions_check CHECK (((definition IS NULL) = (definition_version < version)))
);

CREATE TABLE public.frames (
    run_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    event text NOT NULL,
    channel text NOT NULL,
    data text NOT NULL,
    CONSTRAINT frames_channel_check CHECK ((channel = ANY (ARRAY['output'::text, 'chat'::text, 'other'::text])))
);

CREATE TABLE public.host_leases (
    host_id text NOT NULL,
    owner text NOT NULL,
    renewals bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.host_rpc_requests (
    id uuid NOT NULL,
    host_id text NOT NULL,
    project_id text NOT NULL,
    run_id uuid NOT NULL,
    kind text NOT NULL,
    payload text NOT NULL,
    result text,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.idempotency_keys (
    project_id text NOT NULL,
    key text NOT NULL,
    run_id uuid NOT NULL,
    window_start timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.input_files (
    run_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    mode integer NOT NULL,
    scope text NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    is_pending boolean DEFAULT false NOT NULL,
    CONSTRAINT input_files_scope_check CHECK ((scope = ANY (ARRAY['flow'::text, 'run'::text])))
);

CREATE TABLE public.installation (
    fact text NOT NULL
);

CREATE TABLE public.interactions (
    run_id uuid NOT NULL,
    id text NOT NULL,
    tool_name text NOT NULL,
    input text NOT NULL,
    asked_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    answers text,
    answered_at timestamp with time zone,
    outcome text,
    CONSTRAINT interactions_outcome_check CHECK ((outcome = ANY (ARRAY['answered'::text, 'withdrawn'::text])))
);

CREATE TABLE public.key_usage (
    key_id uuid NOT NULL,
    day date NOT NULL,
    calls bigint NOT NULL,
    errors bigint NOT NULL,
    duration_ms bigint NOT NULL
);

CREATE TABLE public.message_files (
    message_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    mode integer NOT NULL,
    scope text NOT NULL,
    generation integer,
    CONSTRAINT message_files_scope_check CHECK ((scope = ANY (ARRAY['flow'::text, 'run'::text])))
);

CREATE TABLE public.migrations (
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.model_calls (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    message_id uuid,
    project_id text NOT NULL,
    flow_id uuid NOT NULL,
    key_id uuid,
    labels text NOT NULL,
    model text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    status integer,
    is_cut_off boolean NOT NULL,
    is_estimated boolean NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_5m_tokens bigint NOT NULL,
    cache_write_1h_tokens bigint NOT NULL,
    web_searches bigint NOT NULL,
    price text,
    cost_nanos bigint,
    CONSTRAINT model_calls_check CHECK (((price IS NULL) = (cost_nanos IS NULL)))
);

CREATE TABLE public.monthly_runs (
    project_id text NOT NULL,
    month date NOT NULL,
    admitted integer NOT NULL
);

CREATE TABLE public.monthly_spending (
    project_id text NOT NULL,
    owner text NOT NULL,
    owner_id text NOT NULL,
    month date NOT NULL,
    cost_nanos bigint NOT NULL,
    CONSTRAINT monthly_spending_owner_check CHECK ((owner = ANY (ARRAY['project'::text, 'flow'::text, 'key'::text])))
);

CREATE TABLE public.open_sessions (
    project_id text NOT NULL,
    count integer NOT NULL
);

CREATE TABLE public.operator_links (
    code_hash bytea NOT NULL,
    operator_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.operator_sessions (
    token_hash bytea NOT NULL,
    operator_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.operator_tokens (
    id uuid NOT NULL,
    operator_id uuid NOT NULL,
    name text NOT NULL,
    shown_prefix text NOT NULL,
    token_hash bytea NOT NULL,
    project_ids text[],
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT operator_tokens_project_ids_check CHECK ((cardinality(project_ids) > 0))
);

CREATE TABLE public.operators (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL
);

CREATE TABLE public.packed_frames (
    run_id uuid NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    channels text[] NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.packed_frames ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE public.passed_thresholds (
    project_id text NOT NULL,
    owner text NOT NULL,
    owner_id text NOT NULL,
    month date NOT NULL,
    percent integer NOT NULL,
    budget_usd double precision NOT NULL,
    CONSTRAINT passed_thresholds_owner_check CHECK ((owner = ANY (ARRAY['project'::text, 'flow'::text, 'key'::text])))
);

CREATE TABLE public.project_turns (
    project_id text NOT NULL,
    turn bigint NOT NULL
);

CREATE TABLE public.projects (
    id text NOT NULL,
    name text NOT NULL,
    max_concurrent_runs integer DEFAULT 10 NOT NULL,
    max_open_sessions integer DEFAULT 10000 NOT NULL,
    monthly_run_quota integer,
    monthly_budget_usd double precision,
    storage_quota_bytes bigint DEFAULT '53687091200'::bigint,
    webhook_secret_sealed bytea,
    webhook_next_secret_sealed bytea,
    model_sealed bytea,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT projects_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,64}$'::text)),
    CONSTRAINT projects_max_concurrent_runs_check CHECK ((max_concurrent_runs >= 0)),
    CONSTRAINT projects_max_open_sessions_check CHECK ((max_open_sessions >= 0)),
    CONSTRAINT projects_monthly_budget_usd_check CHECK ((monthly_budget_usd >= (0)::double precision)),
    CONSTRAINT projects_monthly_run_quota_check CHECK ((monthly_run_quota >= 0)),
    CONSTRAINT projects_storage_quota_bytes_check CHECK ((storage_quota_bytes >= 0))
);

CREATE TABLE public.reconciler_jobs (
    name text NOT NULL,
    leader text,
    free_at timestamp with time zone NOT NULL
);

CREATE TABLE public.restores (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    dumped_at timestamp with time zone NOT NULL,
    restored_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    reconciled_at timestamp with time zone
);

CREATE TABLE public.run_configs (
    run_id uuid NOT NULL,
    sealed bytea NOT NULL
);

CREATE TABLE public.run_files (
    run_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    mode integer NOT NULL,
    scope text DEFAULT 'run'::text NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    link_group integer,
    CONSTRAINT run_files_scope_check CHECK ((scope = ANY (ARRAY['flow'::text, 'run'::text])))
);

CREATE TABLE public.run_folders (
    run_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    mode integer NOT NULL,
    modified_at timestamp with time zone NOT NULL
);

CREATE TABLE public.run_links (
    run_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL,
    modified_at timestamp with time zone NOT NULL
);

CREATE TABLE public.run_logs (
    run_id uuid NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    byte_offset bigint DEFAULT 0 NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    last_batch_offset bigint,
    last_batch_seq bigint,
    lease_token bigint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_expires_at timestamp with time zone,
    agent_state text,
    is_final boolean DEFAULT false NOT NULL,
    unpacked_since timestamp with time zone
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.run_tokens (
    token_hash bytea NOT NULL,
    key_id uuid NOT NULL,
    run_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.scheduled_starts (
    flow_id uuid NOT NULL,
    run_id uuid NOT NULL,
    scheduled_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    rejected_code text
);

CREATE TABLE public.schema_functions (
    name text NOT NULL,
    sha256 text NOT NULL,
    is_current boolean NOT NULL
);

CREATE TABLE public.session_messages (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    "position" bigint NOT NULL,
    client_message_id text,
    text text NOT NULL,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    signalled_at timestamp with time zone,
    generation integer,
    delivery_attempts integer DEFAULT 0 NOT NULL,
    started_at timestamp with time zone,
    is_accepted boolean DEFAULT false NOT NULL,
    ended_at timestamp with time zone,
    exit_code integer,
    reply text,
    error text
)
WITH (fillfactor='75', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.session_transcripts (
    run_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    mode integer NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    CONSTRAINT session_transcripts_sha256_check CHECK ((length(sha256) = 32))
);

CREATE TABLE public.stored_bytes (
    project_id text NOT NULL,
    kind text NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT stored_bytes_kind_check CHECK ((kind = ANY (ARRAY['files'::text, 'transcripts'::text, 'logs'::text, 'messages'::text])))
);

CREATE TABLE public.stored_bytes_changes (
    project_id text NOT NULL,
    kind text NOT NULL,
    bytes bigint NOT NULL
);

CREATE TABLE public.temporal_identity (
    is_only boolean DEFAULT true NOT NULL,
    cluster_id text,
    namespace_id text,
    namespace text,
    losses_accepted_at timestamp with time zone,
    missing_workflows integer,
    described_workflows integer,
    missing_since timestamp with time zone,
    missing_seen_at timestamp with time zone,
    CONSTRAINT temporal_identity_check CHECK (((namespace_id IS NULL) = (namespace IS NULL))),
    CONSTRAINT temporal_identity_check1 CHECK (((missing_since IS NULL) = (missing_seen_at IS NULL))),
    CONSTRAINT temporal_identity_is_only_check CHECK (is_only)
);

CREATE TABLE public.transcript_segments (
    run_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    CONSTRAINT transcript_segments_size_check CHECK ((size > 0))
);

CREATE TABLE public.turn_spending (
    turn_id uuid NOT NULL,
    day date NOT NULL,
    run_id uuid NOT NULL,
    calls bigint NOT NULL,
    unpriced_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    cost_nanos bigint NOT NULL
);

CREATE TABLE public.webhook_attempts (
    run_id uuid NOT NULL,
    delivery integer DEFAULT 0 NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    finished_at timestamp with time zone,
    status integer,
    error text,
    claimed_by text,
    execution integer,
    CONSTRAINT webhook_attempts_attempt_check CHECK ((attempt >= 1))
);

CREATE TABLE public.webhook_endpoints (
    id uuid NOT NULL,
    project_id text NOT NULL,
    url text,
    event_types text[] NOT NULL,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT webhook_endpoints_event_types_check CHECK ((cardinality(event_types) > 0))
);

CREATE TABLE public.webhook_event_attempts (
    event_id uuid NOT NULL,
    delivery integer DEFAULT 0 NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    finished_at timestamp with time zone,
    status integer,
    error text,
    claimed_by text,
    execution integer,
    CONSTRAINT webhook_event_attempts_attempt_check CHECK ((attempt >= 1))
);

CREATE TABLE public.webhook_events (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    endpoint_id uuid,
    project_id text NOT NULL,
    run_id uuid,
    request_id text,
    event text NOT NULL,
    body text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_status integer,
    redeliveries integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    start_at timestamp with time zone DEFAULT public.db_clock() NOT NULL,
    CONSTRAINT webhook_events_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dropped'::text, 'held'::text])))
);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.blob_chunks
    ADD CONSTRAINT blob_chunks_pkey PRIMARY KEY (sha256, idx);

ALTER TABLE ONLY public.blobs
    ADD CONSTRAINT blobs_pkey PRIMARY KEY (sha256);

ALTER TABLE ONLY public.daily_label_spending
    ADD CONSTRAINT daily_label_spending_pkey PRIMARY KEY (project_id, label, day, value);

ALTER TABLE ONLY public.daily_spending
    ADD CONSTRAINT daily_spending_project_id_day_flow_id_key_id_model_key UNIQUE NULLS NOT DISTINCT (project_id, day, flow_id, key_id, model);

ALTER TABLE ONLY public.database_identity
    ADD CONSTRAINT database_identity_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.flow_files
    ADD CONSTRAINT flow_files_pkey PRIMARY KEY (flow_id, path, valid_from);

ALTER TABLE ONLY public.flow_versions
    ADD CONSTRAINT flow_versions_pkey PRIMARY KEY (flow_id, version);

ALTER TABLE ONLY public.flows
    ADD CONSTRAINT flows_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.frames
    ADD CONSTRAINT frames_pkey PRIMARY KEY (run_id, seq);

ALTER TABLE ONLY public.host_leases
    ADD CONSTRAINT host_leases_pkey PRIMARY KEY (host_id);

ALTER TABLE ONLY public.host_rpc_requests
    ADD CONSTRAINT host_rpc_requests_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (project_id, key);

ALTER TABLE ONLY public.input_files
    ADD CONSTRAINT input_files_pkey PRIMARY KEY (run_id, path);

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (fact);

ALTER TABLE ONLY public.interactions
    ADD CONSTRAINT interactions_pkey PRIMARY KEY (run_id, id);

ALTER TABLE ONLY public.key_usage
    ADD CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, day);

ALTER TABLE ONLY public.message_files
    ADD CONSTRAINT message_files_pkey PRIMARY KEY (message_id, path);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT model_calls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.monthly_runs
    ADD CONSTRAINT monthly_runs_pkey PRIMARY KEY (project_id, month);

ALTER TABLE ONLY public.monthly_spending
    ADD CONSTRAINT monthly_spending_pkey PRIMARY KEY (project_id, owner, owner_id, month);

ALTER TABLE ONLY public.open_sessions
    ADD CONSTRAINT open_sessions_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.operator_links
    ADD CONSTRAINT operator_links_pkey PRIMARY KEY (code_hash);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.operator_tokens
    ADD CONSTRAINT operator_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operator_tokens
    ADD CONSTRAINT operator_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_name_key UNIQUE (name);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.packed_frames
    ADD CONSTRAINT packed_frames_pkey PRIMARY KEY (run_id, first_seq);

ALTER TABLE ONLY public.passed_thresholds
    ADD CONSTRAINT passed_thresholds_pkey PRIMARY KEY (project_id, owner, owner_id, month, percent);

ALTER TABLE ONLY public.project_turns
    ADD CONSTRAINT project_turns_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.reconciler_jobs
    ADD CONSTRAINT reconciler_jobs_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.restores
    ADD CONSTRAINT restores_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.run_configs
    ADD CONSTRAINT run_configs_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY public.run_files
    ADD CONSTRAINT run_files_pkey PRIMARY KEY (run_id, path);

ALTER TABLE ONLY public.run_folders
    ADD CONSTRAINT run_folders_pkey PRIMARY KEY (run_id, path);

ALTER TABLE ONLY public.run_links
    ADD CONSTRAINT run_links_pkey PRIMARY KEY (run_id, path);

ALTER TABLE ONLY public.run_logs
    ADD CONSTRAINT run_logs_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY public.run_tokens
    ADD CONSTRAINT run_tokens_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_workflow_id_key UNIQUE (workflow_id);

ALTER TABLE ONLY public.scheduled_starts
    ADD CONSTRAINT scheduled_starts_pkey PRIMARY KEY (flow_id, scheduled_at, run_id);

ALTER TABLE ONLY public.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (name, sha256);

ALTER TABLE ONLY public.session_messages
    ADD CONSTRAINT session_messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.session_messages
    ADD CONSTRAINT session_messages_run_id_client_message_id_key UNIQUE (run_id, client_message_id);

ALTER TABLE ONLY public.session_messages
    ADD CONSTRAINT session_messages_run_id_position_key UNIQUE (run_id, "position");

ALTER TABLE ONLY public.session_transcripts
    ADD CONSTRAINT session_transcripts_pkey PRIMARY KEY (run_id, path);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_flow_id_session_id_key UNIQUE (flow_id, session_id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY public.stored_bytes
    ADD CONSTRAINT stored_bytes_pkey PRIMARY KEY (project_id, kind);

ALTER TABLE ONLY public.temporal_identity
    ADD CONSTRAINT temporal_identity_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.transcript_segments
    ADD CONSTRAINT transcript_segments_pkey PRIMARY KEY (run_id, path, at);

ALTER TABLE ONLY public.turn_spending
    ADD CONSTRAINT turn_spending_pkey PRIMARY KEY (turn_id, day);

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (run_id, delivery, attempt);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_event_attempts
    ADD CONSTRAINT webhook_event_attempts_pkey PRIMARY KEY (event_id, delivery, attempt);

ALTER TABLE ONLY public.webhook_events
    ADD CONSTRAINT webhook_events_pkey PRIMARY KEY (id);

CREATE INDEX api_keys_by_project ON public.api_keys USING btree (project_id, created_at, id);

CREATE INDEX audit_log_by_time ON public.audit_log USING btree (at, id);

CREATE INDEX audit_log_of_project ON public.audit_log USING btree (project_id, at, id);

CREATE INDEX daily_label_spending_by_day ON public.daily_label_spending USING btree (day);

CREATE INDEX daily_spending_by_day ON public.daily_spending USING btree (day);

CREATE UNIQUE INDEX flow_files_newest ON public.flow_files USING btree (flow_id, path) WHERE (valid_to IS NULL);

CREATE INDEX flow_files_of_blob ON public.flow_files USING btree (sha256);

CREATE INDEX flow_files_superseded ON public.flow_files USING btree (flow_id, valid_to) WHERE (valid_to IS NOT NULL);

CREATE INDEX flows_by_project ON public.flows USING btree (project_id, created_at, id);

CREATE INDEX flows_with_schedule ON public.flows USING btree (id) WHERE ((schedule_cron IS NOT NULL) OR (schedule_synced_version IS NOT NULL));

CREATE INDEX frames_by_channel ON public.frames USING btree (run_id, channel, seq);

CREATE INDEX host_rpc_requests_by_expiry ON public.host_rpc_requests USING btree (expires_at);

CREATE INDEX host_rpc_requests_open ON public.host_rpc_requests USING btree (host_id) WHERE (result IS NULL);

CREATE INDEX idempotency_keys_by_expiry ON public.idempotency_keys USING btree (expires_at);

CREATE INDEX idempotency_keys_of_run ON public.idempotency_keys USING btree (run_id);

CREATE INDEX input_files_of_blob ON public.input_files USING btree (sha256);

CREATE INDEX input_files_pending ON public.input_files USING btree (run_id) WHERE is_pending;

CREATE INDEX interactions_open ON public.interactions USING btree (run_id, asked_at) WHERE (outcome IS NULL);

CREATE INDEX key_usage_by_day ON public.key_usage USING btree (day);

CREATE INDEX message_files_of_blob ON public.message_files USING btree (sha256);

CREATE INDEX model_calls_by_end ON public.model_calls USING btree (ended_at);

CREATE INDEX model_calls_of_run ON public.model_calls USING btree (run_id, started_at);

CREATE INDEX monthly_spending_by_month ON public.monthly_spending USING btree (month);

CREATE INDEX open_sessions_of_flow ON public.runs USING btree (flow_id, created_at DESC, id DESC) WHERE ((session_id IS NOT NULL) AND (ended_at IS NULL));

CREATE INDEX operator_links_of_operator ON public.operator_links USING btree (operator_id);

CREATE INDEX operator_sessions_of_operator ON public.operator_sessions USING btree (operator_id);

CREATE INDEX operator_tokens_of_operator ON public.operator_tokens USING btree (operator_id);

CREATE INDEX passed_thresholds_by_month ON public.passed_thresholds USING btree (month);

CREATE INDEX run_files_of_blob ON public.run_files USING btree (sha256);

CREATE INDEX run_logs_to_pack ON public.run_logs USING btree (unpacked_since) WHERE (unpacked_since IS NOT NULL);

CREATE INDEX run_tokens_by_expiry ON public.run_tokens USING btree (expires_at);

CREATE INDEX runs_active ON public.runs USING btree (id) WHERE (ended_at IS NULL);

CREATE INDEX runs_active_by_files ON public.runs USING btree (flow_id, files_version) WHERE (ended_at IS NULL);

CREATE INDEX runs_active_by_host ON public.runs USING btree (host_id) WHERE (ended_at IS NULL);

CREATE INDEX runs_by_agent_status ON public.runs USING btree (project_id, resting_agent_status, created_at DESC, id DESC) WHERE (resting_agent_status IS NOT NULL);

CREATE INDEX runs_by_label ON public.runs USING gin (public.label_pairs(labels));

CREATE INDEX runs_by_project ON public.runs USING btree (project_id, created_at DESC, id DESC);

CREATE INDEX runs_by_session ON public.runs USING btree (project_id, session_id, created_at DESC, id DESC) WHERE (session_id IS NOT NULL);

CREATE INDEX runs_by_trigger_type ON public.runs USING btree (project_id, trigger_type, created_at DESC, id DESC);

CREATE INDEX runs_deleted ON public.runs USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX runs_occupying_slots ON public.runs USING btree (project_id) WHERE ((ended_at IS NULL) AND ((session_id IS NULL) OR holds_slot));

CREATE INDEX runs_of_flow ON public.runs USING btree (flow_id, created_at DESC);

CREATE INDEX runs_of_tree ON public.runs USING btree ((ancestor_ids[1])) WHERE (ancestor_ids <> '{}'::uuid[]);

CREATE INDEX runs_stopping ON public.runs USING btree (stopping_since) WHERE (stopping_since IS NOT NULL);

CREATE INDEX runs_unstarted ON public.runs USING btree (created_at) WHERE ((ended_at IS NULL) AND (workflow_started_at IS NULL));

CREATE INDEX runs_waiting ON public.runs USING btree (waiting_since, id) WHERE ((ended_at IS NULL) AND (waiting_since IS NOT NULL));

CREATE INDEX runs_with_claimed_redelivery ON public.runs USING btree (webhook_redelivery_claimed_at) WHERE (webhook_redelivery_claimed_at IS NOT NULL);

CREATE INDEX runs_with_files ON public.runs USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (files_purged_at IS NULL) AND (session_id IS NULL));

CREATE INDEX runs_with_log ON public.runs USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (log_purged_at IS NULL));

CREATE INDEX runs_with_pending_webhook ON public.runs USING btree (ended_at) WHERE (webhook_state = 'pending'::text);

CREATE INDEX runs_with_pending_webhook_by_project ON public.runs USING btree (project_id, ended_at, id) WHERE (webhook_state = 'pending'::text);

CREATE INDEX runs_with_unstored_files ON public.runs USING btree (host_id) WHERE (has_unstored_files AND (files_purged_at IS NULL));

CREATE INDEX runs_with_webhook_in_common_slots ON public.runs USING btree (ended_at) WHERE ((webhook_state = 'pending'::text) AND webhook_uses_common_slots);

CREATE UNIQUE INDEX schema_functions_current ON public.schema_functions USING btree (name) WHERE is_current;

CREATE INDEX session_messages_left ON public.session_messages USING btree (run_id, "position") WHERE (ended_at IS NULL);

CREATE INDEX session_messages_unsignalled ON public.session_messages USING btree (created_at) WHERE ((ended_at IS NULL) AND (signalled_at IS NULL));

CREATE INDEX sessions_of_flow ON public.runs USING btree (flow_id, created_at DESC, id DESC) WHERE (session_id IS NOT NULL);

CREATE INDEX sessions_with_files ON public.runs USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (files_purged_at IS NULL) AND (session_id IS NOT NULL));

CREATE INDEX stored_bytes_changes_by_project ON public.stored_bytes_changes USING btree (project_id);

CREATE INDEX transcript_segments_of_blob ON public.transcript_segments USING btree (sha256);

CREATE INDEX turn_spending_by_day ON public.turn_spending USING btree (day);

CREATE INDEX webhook_attempts_by_start ON public.webhook_attempts USING btree (started_at);

CREATE INDEX webhook_endpoints_by_project ON public.webhook_endpoints USING btree (project_id, created_at, id) WHERE (removed_at IS NULL);

CREATE INDEX webhook_events_by_age ON public.webhook_events USING btree (created_at);

CREATE INDEX webhook_events_of_endpoint ON public.webhook_events USING btree (endpoint_id, created_at DESC, id DESC);

CREATE INDEX webhook_events_of_session ON public.webhook_events USING btree (run_id, created_at DESC, id DESC) WHERE (endpoint_id IS NULL);

CREATE INDEX webhook_events_to_start ON public.webhook_events USING btree (project_id, start_at) WHERE (state = 'pending'::text);

CREATE TRIGGER audit_log_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION public.reject_change();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.blob_chunks
    ADD CONSTRAINT blob_chunks_sha256_fkey FOREIGN KEY (sha256) REFERENCES public.blobs(sha256) ON DELETE CASCADE;

ALTER TABLE ONLY public.flow_files
    ADD CONSTRAINT flow_files_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES public.flows(id);

ALTER TABLE ONLY public.flow_files
    ADD CONSTRAINT flow_files_sha256_fkey FOREIGN KEY (sha256) REFERENCES public.blobs(sha256);

ALTER TABLE ONLY public.flow_versions
    ADD CONSTRAINT flow_versions_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES public.flows(id);

ALTER TABLE ONLY public.flows
    ADD CONSTRAINT flows_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.input_files
    ADD CONSTRAINT input_files_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.input_files
    ADD CONSTRAINT input_files_sha256_fkey FOREIGN KEY (sha256) REFERENCES public.blobs(sha256);

ALTER TABLE ONLY public.interactions
    ADD CONSTRAINT interactions_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.key_usage
    ADD CONSTRAINT key_usage_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);

ALTER TABLE ONLY public.message_files
    ADD CONSTRAINT message_files_message_id_fkey FOREIGN KEY (message_id) REFERENCES public.session_messages(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.message_files
    ADD CONSTRAINT message_files_sha256_fkey FOREIGN KEY (sha256) REFERENCES public.blobs(sha256);

ALTER TABLE ONLY public.monthly_runs
    ADD CONSTRAINT monthly_runs_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.open_sessions
    ADD CONSTRAINT open_sessions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.operator_links
    ADD CONSTRAINT operator_links_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operators(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operators(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.operator_tokens
    ADD CONSTRAINT operator_tokens_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operators(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.run_configs
    ADD CONSTRAINT run_configs_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.run_files
    ADD CONSTRAINT run_files_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.run_files
    ADD CONSTRAINT run_files_sha256_fkey FOREIGN KEY (sha256) REFERENCES public.blobs(sha256);

ALTER TABLE ONLY public.run_folders
    ADD CONSTRAINT run_folders_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.run_links
    ADD CONSTRAINT run_links_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.run_logs
    ADD CONSTRAINT run_logs_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.run_tokens
    ADD CONSTRAINT run_tokens_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES public.flows(id);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.scheduled_starts
    ADD CONSTRAINT scheduled_starts_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES public.flows(id);

ALTER TABLE ONLY public.session_messages
    ADD CONSTRAINT session_messages_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.sessions(run_id);

ALTER TABLE ONLY public.session_transcripts
    ADD CONSTRAINT session_transcripts_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.sessions(run_id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES public.flows(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.transcript_segments
    ADD CONSTRAINT transcript_segments_run_id_path_fkey FOREIGN KEY (run_id, path) REFERENCES public.session_transcripts(run_id, path) ON DELETE CASCADE;

ALTER TABLE ONLY public.transcript_segments
    ADD CONSTRAINT transcript_segments_sha256_fkey FOREIGN KEY (sha256) REFERENCES public.blobs(sha256);

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.webhook_event_attempts
    ADD CONSTRAINT webhook_event_attempts_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.webhook_events(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_events
    ADD CONSTRAINT webhook_events_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoints(id);

