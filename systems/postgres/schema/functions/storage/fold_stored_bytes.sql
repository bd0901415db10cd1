-- Adds changes to the sums, and returns how many. Several calls at once add different changes.
create or replace function fold_stored_bytes(p_max integer)
returns integer language plpgsql volatile as $$
declare
  changes integer;
begin
  with folded as (
    delete from stored_bytes_changes where ctid = any(array(
      select ctid from stored_bytes_changes limit p_max for update skip locked
    ))
    returning project_id, kind, bytes
  ),
  added as (
    insert into stored_bytes as s (project_id, kind, bytes)
    select project_id, kind, sum(bytes) from folded group by project_id, kind order by 1, 2
    on conflict (project_id, kind) do update set bytes = s.bytes + excluded.bytes
  )
  select count(*) into changes from folded;
  return changes;
end
$$;
