/**
 * The files of run `$1` as they were last stored, or its initial files if nothing was stored yet.
 * Includes the files that wait for the next turn. Empty after retention has removed them.
 */
export const currentFiles = `
  select path, sha256, size, mode, scope, modified_at from run_files f
  where run_id = $1
    and not exists (select from input_files g where g.run_id = $1 and g.path = f.path and g.is_pending)
  union all
  select path, sha256, size, mode, scope, modified_at from input_files
  where run_id = $1 and is_pending and exists (select from run_files where run_id = $1)
  union all
  select path, sha256, size, mode, scope, modified_at from seed_files($1)
  where not exists (
      select from runs where id = $1 and (snapshot is not null or files_purged_at is not null)
    )
    and not exists (select from run_files where run_id = $1)`;
