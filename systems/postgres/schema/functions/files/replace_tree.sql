-- Replaces the stored files, links and folders of a run; the caller has locked the run. Only rows
-- that differ are written. A file that keeps its previous version leaves its group of hard links. A
-- file of the flow that the run has not changed keeps its scope. The planner cannot know how many
-- entries a snapshot has: a nested loop over 20 000 of them would take minutes.
create or replace function replace_tree(p_run_id uuid, p_snapshot json)
returns void language plpgsql volatile set enable_nestloop = off as $$
declare
  digest bytea := tree_digest(p_run_id, p_snapshot);
  previous text[];
begin
  update runs r set tree_digest = digest
    where r.id = p_run_id and r.tree_digest is distinct from digest;
  if not found then
    return;
  end if;
  previous := array(select previous_versions('run_files', p_run_id, p_snapshot));
  perform replace_links_and_folders(p_run_id, p_snapshot);

  delete from run_files f
  where f.run_id = p_run_id and f.path <> all (previous)
    and not exists (
      select from json_to_recordset(p_snapshot -> 'files') n(path text) where n.path = f.path
    );
  update run_files f set link_group = null
  where f.run_id = p_run_id and f.path = any (previous) and f.link_group is not null;

  insert into run_files (run_id, path, sha256, size, mode, scope, modified_at, link_group)
  select n.* from (
    select p_run_id, f.path, decode(f.sha256, 'hex'), f.size, f.mode,
           case when s.path is null then f.scope else 'flow' end, f."modifiedAt", f."linkGroup"
    from json_to_recordset(p_snapshot -> 'files') f(
      path text, sha256 text, size bigint, mode integer, scope text, "modifiedAt" timestamptz,
      "linkGroup" integer
    )
    left join seed_files(p_run_id) s
      on s.scope = 'flow' and s.path = f.path and s.sha256 = decode(f.sha256, 'hex')
  ) n(run_id, path, sha256, size, mode, scope, modified_at, link_group)
  left join run_files o on o.run_id = p_run_id and o.path = n.path
  where (n.sha256, n.mode, n.scope, n.modified_at, n.link_group)
    is distinct from (o.sha256, o.mode, o.scope, o.modified_at, o.link_group)
  on conflict (run_id, path) do update
    set sha256 = excluded.sha256, size = excluded.size, mode = excluded.mode,
        scope = excluded.scope, modified_at = excluded.modified_at,
        link_group = excluded.link_group;

  if copy_original_files(p_run_id) then
    update runs r set tree_digest = tree_digest(p_run_id, p_snapshot) where r.id = p_run_id;
  end if;
end
$$;
