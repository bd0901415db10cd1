-- Replaces the stored files, links and folders of a run; the caller has locked the run. A file that
-- keeps its previous version leaves its group of hard links. A file of the flow that the run has
-- not changed keeps its scope. If the same is stored already, no row of it changes.
create or replace function replace_tree(p_run_id uuid, p_snapshot json)
returns void language plpgsql volatile as $$
declare
  -- Files that were added since may change the scope of others.
  inputs text := (
    select string_agg(concat_ws(' ', i.path, encode(i.sha256, 'hex'), i.scope), ' ' order by i.path)
    from input_files i where i.run_id = p_run_id
  );
  digest bytea := sha256(convert_to(concat_ws(' ', p_snapshot::text, inputs), 'UTF8'));
  previous text[];
begin
  update runs r set tree_digest = digest
    where r.id = p_run_id and r.tree_digest is distinct from digest;
  if not found then
    return;
  end if;
  previous := array(select previous_versions('run_files', p_run_id, p_snapshot));
  delete from run_links l where l.run_id = p_run_id;
  delete from run_folders f where f.run_id = p_run_id;
  delete from run_files f where f.run_id = p_run_id and f.path <> all (previous);
  update run_files f set link_group = null where f.run_id = p_run_id and f.link_group is not null;

  insert into run_links (run_id, path, target, modified_at)
  select p_run_id, l.path, l.target, l."modifiedAt"
  from json_to_recordset(p_snapshot -> 'links')
    l(path text, target text, "modifiedAt" timestamptz);

  insert into run_folders (run_id, path, mode, modified_at)
  select p_run_id, f.path, f.mode, f."modifiedAt"
  from json_to_recordset(p_snapshot -> 'folders')
    f(path text, mode integer, "modifiedAt" timestamptz);

  insert into run_files (run_id, path, sha256, size, mode, scope, modified_at, link_group)
  select p_run_id, f.path, decode(f.sha256, 'hex'), f.size, f.mode,
         case when s.path is null then f.scope else 'flow' end, f."modifiedAt", f."linkGroup"
  from json_to_recordset(p_snapshot -> 'files') f(
    path text, sha256 text, size bigint, mode integer, scope text, "modifiedAt" timestamptz,
    "linkGroup" integer
  )
  left join seed_files(p_run_id) s
    on s.scope = 'flow' and s.path = f.path and s.sha256 = decode(f.sha256, 'hex');
end
$$;
