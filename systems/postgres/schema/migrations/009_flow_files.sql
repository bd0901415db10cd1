-- Up Migration

-- What a flow's files take, counted where they are changed: under the lock of this row.
alter table flows
  add column files_version bigint not null default 0,
  add column file_count integer not null default 0 check (file_count >= 0),
  add column storage_bytes bigint not null default 0 check (storage_bytes >= 0);

-- Every version of a flow's files that a living run may still be made from: a file counts for the
-- versions from `since` to before `until`, and for the newest where there is no `until`.
create table flow_files (
  flow_id uuid not null references flows,
  path text collate "C" not null,
  since bigint not null,
  until bigint,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  modified_at timestamptz not null,
  primary key (flow_id, path, since),
  check (until > since)
);
create unique index flow_files_now on flow_files (flow_id, path) where until is null;
create index flow_files_of_blob on flow_files (sha256);

-- A run is made from the flow's files as they are when it is admitted. Who changes them holds the lock
-- of the flow's row: it is waited for, so that no version is removed that this run is about to have.
alter table runs add column files_version bigint not null default 0;

create function take_files_version() returns trigger language plpgsql as $$
begin
  select f.files_version into new.files_version from flows f where f.id = new.flow_id for share;
  return new;
end
$$;
create trigger runs_take_files_version before insert on runs
  for each row execute function take_files_version();

-- What requests have put into this run's working directory. A file of the flow stands here too: the
-- run has this copy of it, whatever becomes of the flow's.
create table given_files (
  run_id uuid not null references runs,
  path text collate "C" not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  scope text not null check (scope in ('flow', 'run')),
  modified_at timestamptz not null,
  primary key (run_id, path)
);
create index given_files_of_blob on given_files (sha256);

-- What a run's working directory holds before its agent has touched it.
create function seed_files(p_run_id uuid)
returns table (path text, sha256 bytea, size bigint, mode integer, scope text, modified_at timestamptz)
language sql stable as $$
  select g.path, g.sha256, g.size, g.mode, g.scope, g.modified_at
  from given_files g where g.run_id = p_run_id
  union all
  select f.path, f.sha256, f.size, f.mode, 'flow', f.modified_at
  from runs r join flow_files f on f.flow_id = r.flow_id
  where r.id = p_run_id
    and f.since <= r.files_version
    and (f.until is null or f.until > r.files_version)
    and not exists (select from given_files g where g.run_id = p_run_id and g.path = f.path)
$$;

-- What an API process asks of the host that holds a run. Gone once it was answered and read, or once
-- nobody waits for it any more.
create table host_requests (
  id uuid primary key,
  host_id text not null,
  run_id uuid not null,
  kind text not null,
  -- JSON text
  payload text not null,
  -- JSON text, null until it is answered
  result text,
  expires_at timestamptz not null
);
create index host_requests_open on host_requests (host_id) where result is null;
create index host_requests_by_expiry on host_requests (expires_at);
