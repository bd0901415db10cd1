-- Copies the flow's files that the agent of a run has changed or deleted to the input files of the
-- run. So the run's changes can be listed after the flow has other files. Returns whether it copied
-- any. The planner cannot know how many files a run has, see replace_tree.
create or replace function copy_original_files(p_run_id uuid)
returns boolean language plpgsql volatile set enable_nestloop = off as $$
begin
  insert into input_files (run_id, path, sha256, size, mode, scope, modified_at)
  select p_run_id, s.path, s.sha256, s.size, s.mode, s.scope, s.modified_at
  from seed_files(p_run_id) s
  left join run_files f on f.run_id = p_run_id and f.path = s.path
  where s.scope = 'flow'
    and (f.sha256, (f.mode & 64) <> 0) is distinct from (s.sha256, (s.mode & 64) <> 0)
  order by s.path collate "C"
  on conflict (run_id, path) do nothing;
  return found;
end
$$;
