-- The content of a run's working directory before its agent has changed anything.
create or replace function seed_files(p_run_id uuid)
returns table (
  path text, sha256 bytea, size bigint, mode integer, scope text, modified_at timestamptz
)
language sql stable as $$
  select i.path, i.sha256, i.size, i.mode, i.scope, i.modified_at
  from input_files i where i.run_id = p_run_id
  union all
  select f.path, f.sha256, f.size, f.mode, 'flow', f.modified_at
  from runs r join flow_files f on f.flow_id = r.flow_id
  where r.id = p_run_id
    and f.valid_from <= r.files_version
    and (f.valid_to is null or f.valid_to > r.files_version)
    and not exists (select from input_files i where i.run_id = p_run_id and i.path = f.path)
$$;
