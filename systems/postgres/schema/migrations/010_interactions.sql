-- Up Migration

-- What is known of an agent's earlier lines, beside the place up to which they were read; JSON text.
alter table cursors add column memory text;

-- The agent's questions. The first answer stands; whether the agent has taken it, its output says.
create table interactions (
  run_id uuid not null references runs,
  id text not null,
  tool_name text not null,
  -- as the agent put it; JSON text
  input text not null,
  asked_at timestamptz not null default db_clock(),
  -- JSON text
  answers text,
  answered_at timestamptz,
  -- the agent waits for it no more
  outcome text check (outcome in ('answered', 'withdrawn')),
  primary key (run_id, id)
);
create index interactions_open on interactions (run_id, asked_at) where outcome is null;
