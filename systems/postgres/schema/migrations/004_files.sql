-- Up Migration

-- A row is visible only together with all of its chunks: both are written in one transaction.
create table blobs (
  sha256 bytea primary key check (length(sha256) = 32),
  size bigint not null,
  created_at timestamptz not null default db_clock()
);

create table blob_chunks (
  sha256 bytea not null references blobs on delete cascade,
  idx integer not null,
  data bytea not null,
  primary key (sha256, idx)
);
-- Uncompressed, so that a range of a chunk is read without reading all of it.
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
  primary key (run_id, path)
);
create index run_files_of_blob on run_files (sha256);
