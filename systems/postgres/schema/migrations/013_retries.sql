-- Up Migration

-- A run that repeats another begins with the files that were the other's alone: nobody else has them.
-- Those of the flow come from the flow, as it is now. What the request itself brings is given after
-- this, and replaces what has the same path.
create function keep_own_files() returns trigger language plpgsql as $$
begin
  insert into given_files (run_id, path, sha256, size, mode, scope, modified_at)
  select new.id, g.path, g.sha256, g.size, g.mode, g.scope, g.modified_at
  from given_files g where g.run_id = new.retry_of and g.scope = 'run';
  return null;
end
$$;
create trigger runs_keep_own_files after insert on runs
  for each row when (new.retry_of is not null) execute function keep_own_files();
