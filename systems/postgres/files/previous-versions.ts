import type { Snapshot } from '../../../core/files/file-entry.ts';
import { limits } from '../../../core/limits.ts';

/**
 * SQL for the paths of stored files that remain although the new snapshot does not contain them: the
 * files that changed while they were stored. `$1` is the run, the other values are
 * `previousVersionValues`. Previous versions count towards the limits of a snapshot. Otherwise an agent
 * could store any amount by changing files in turn.
 */
export const previousVersions = (table: 'run_files' | 'session_transcripts'): string => `
  select path from (
    select f.path, sum(f.size) over (order by f.path) as bytes,
           row_number() over (order by f.path) as files
    from ${table} f where f.run_id = $1 and f.path = any($2::text[])
  ) stored
  where bytes <= $3 and files <= $4`;

/** `$2` to `$4`: the paths, and how many bytes and files the limits leave. */
export function previousVersionValues({
  changed,
  files,
  links,
}: Pick<Snapshot, 'changed' | 'files' | 'links'>): unknown[] {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const { maxBytes, maxFiles } = limits.snapshot;
  return [changed, maxBytes - bytes, maxFiles - files.length - links.length];
}
