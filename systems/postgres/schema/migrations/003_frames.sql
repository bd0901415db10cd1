-- Up Migration

-- Where the log of a run has got to, and who may write it.
create table cursors (
  run_id uuid primary key references runs,
  generation integer not null default 1,
  byte_offset bigint not null default 0,
  last_seq bigint not null default 0,
  -- where the batch that moved byte_offset last began, and its last seq: a writer who never heard of
  -- its commit asks again and finds its own batch by them
  batch_from_offset bigint,
  batch_last_seq bigint,
  lease_token bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz,
  -- set with the run's end: the log is final from then on
  closed boolean not null default false
);

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
