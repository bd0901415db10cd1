-- Up Migration

-- What waits for a session's next turn: no sandbox has been given it yet.
alter table given_files add column pending boolean not null default false;
create index given_files_pending on given_files (run_id) where pending;

-- Files that came with a message. Each of the sandboxes that the message is given to gets them before
-- its turn begins, and none of them before.
create table message_files (
  message_id uuid not null references session_messages on delete cascade,
  path text collate "C" not null,
  sha256 bytea not null references blobs,
  size bigint not null,
  mode integer not null,
  scope text not null check (scope in ('flow', 'run')),
  -- the sandbox that has had them last
  generation integer,
  primary key (message_id, path)
);
create index message_files_of_blob on message_files (sha256);
