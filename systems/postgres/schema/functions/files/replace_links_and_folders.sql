-- Replaces the stored links and folders of a run, see replace_tree. Only rows that differ are
-- written.
create or replace function replace_links_and_folders(p_run_id uuid, p_snapshot json)
returns void language plpgsql volatile set enable_nestloop = off as $$
begin
  delete from run_links l
  where l.run_id = p_run_id and not exists (
    select from json_to_recordset(p_snapshot -> 'links') n(path text) where n.path = l.path
  );
  insert into run_links (run_id, path, target, modified_at)
  select p_run_id, n.path, n.target, n."modifiedAt"
  from json_to_recordset(p_snapshot -> 'links')
    n(path text, target text, "modifiedAt" timestamptz)
  left join run_links o on o.run_id = p_run_id and o.path = n.path
  where (n.target, n."modifiedAt") is distinct from (o.target, o.modified_at)
  on conflict (run_id, path) do update
    set target = excluded.target, modified_at = excluded.modified_at;

  delete from run_folders f
  where f.run_id = p_run_id and not exists (
    select from json_to_recordset(p_snapshot -> 'folders') n(path text) where n.path = f.path
  );
  insert into run_folders (run_id, path, mode, modified_at)
  select p_run_id, n.path, n.mode, n."modifiedAt"
  from json_to_recordset(p_snapshot -> 'folders')
    n(path text, mode integer, "modifiedAt" timestamptz)
  left join run_folders o on o.run_id = p_run_id and o.path = n.path
  where (n.mode, n."modifiedAt") is distinct from (o.mode, o.modified_at)
  on conflict (run_id, path) do update
    set mode = excluded.mode, modified_at = excluded.modified_at;
end
$$;
