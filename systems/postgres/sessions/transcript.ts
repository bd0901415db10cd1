import { limits } from '../../../core/limits.ts';
import type {
  RestorableTranscript,
  StoredTranscript,
  Transcript,
} from '../../../core/sessions/transcript.ts';
import type { Db } from '../client/pool.ts';

interface SaveBase {
  /** By Postgres's clock. */
  at: Date;
  transcript: StoredTranscript[];
}

/**
 * When a save begins, and the transcript that it may append to. The segments after the last large
 * one are stored again as one when they are many, so that a long conversation has few segments.
 */
export async function beginSave(db: Db, runId: string): Promise<SaveBase> {
  const values = [runId, limits.transcript.smallSegmentsMax, limits.transcript.largeSegmentBytes];
  const { rows } = await db.query<SaveBase>({ name: 'begin_save', text: saveBase, values });
  if (!rows[0]) throw new Error('the beginning of a save returned no row');
  return rows[0];
}

const saveBase = `
  select db_clock() as at, (
    select coalesce(json_agg(json_build_object(
       'path', t.path, 'size', t.size, 'sha256', encode(t.sha256, 'hex'),
       'appendAt', case when small.count < $2 then t.size else small.first end
     )), '[]')
     from session_transcripts t cross join lateral (
       select count(*), min(s.at) as first from transcript_segments s
       where s.run_id = t.run_id and s.path = t.path and s.at > coalesce((
         select max(l.at) from transcript_segments l
         where l.run_id = t.run_id and l.path = t.path and l.size >= $3
       ), -1)
     ) small
     where t.run_id = $1
  ) as transcript`;

/** For `replace_transcript`. What the files leave of the limits is for previous versions. */
export function transcriptJson({ files, changed }: Transcript): string {
  const { maxBytes, maxFiles } = limits.snapshot;
  return JSON.stringify({
    files: files.map(({ base, rest, ...file }) => ({
      ...file,
      baseSha256: base?.sha256 ?? null,
      restAt: base?.appendAt ?? 0,
      restSha256: rest.sha256,
      restSize: rest.size,
    })),
    changed,
    bytesLeft: maxBytes - files.reduce((sum, { size }) => sum + size, 0),
    filesLeft: maxFiles - files.length,
  });
}

export async function listTranscript(db: Db, runId: string): Promise<RestorableTranscript[]> {
  const { rows } = await db.query<RestorableTranscript>(
    `select t.path, encode(t.sha256, 'hex') as sha256, t.mode, t.modified_at as "modifiedAt", (
       select coalesce(json_agg(json_build_object(
         'sha256', encode(s.sha256, 'hex'), 'size', s.size
       ) order by s.at), '[]')
       from transcript_segments s where s.run_id = t.run_id and s.path = t.path
     ) as segments
     from session_transcripts t where t.run_id = $1 order by t.path`,
    [runId],
  );
  return rows;
}
