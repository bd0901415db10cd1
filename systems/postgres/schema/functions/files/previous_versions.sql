-- The paths of a run's stored files that remain although the new snapshot does not contain them:
-- the files that changed while they were stored. Previous versions count towards the limits of a
-- snapshot. Otherwise an agent could store any amount by changing files in turn.
create or replace function previous_versions(p_files regclass, p_run_id uuid, p_snapshot json)
returns setof text language plpgsql stable as $$
begin
  return query execute format(
    'select path from (
       select f.path, sum(f.size) over (order by f.path) as bytes,
              row_number() over (order by f.path) as files
       from %s f
       where f.run_id = $1 and f.path in (select json_array_elements_text($2 -> ''changed''))
     ) stored
     where bytes <= ($2 ->> ''bytesLeft'')::bigint and files <= ($2 ->> ''filesLeft'')::bigint',
    p_files
  ) using p_run_id, p_snapshot;
end
$$;
