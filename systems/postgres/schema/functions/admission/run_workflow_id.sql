-- The id of a run's workflow, computed here because only the admitting transaction has the start of
-- the key's window. Project ids contain no slash and the window comes last, so two keys never share
-- an id.
create or replace function run_workflow_id(
  project_id text, run_id uuid, key text, window_start timestamptz
)
returns text language sql stable as $$
  select case
    when key is null then 'run/' || run_id
    else 'run/' || project_id || '/' || workflow_key(key) || '/'
      || to_char(window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end
$$;
