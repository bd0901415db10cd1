-- Replaces the stored files of an agent's conversation; the caller has locked the run. A file that
-- has grown keeps its segments before `restAt` and gets one more for the rest. Raises an error if
-- the version that the save compared it with is not stored any more. Links and folders are not
-- stored.
create or replace function replace_transcript(p_run_id uuid, p_transcript json)
returns void language plpgsql volatile as $$
declare
  files json := p_transcript -> 'files';
  previous text[] := array(
    select previous_versions('session_transcripts', p_run_id, p_transcript)
  );
begin
  if exists (
    select from json_to_recordset(files) f(path text, "baseSha256" text)
    where f."baseSha256" is not null and not exists (
      select from session_transcripts t
      where t.run_id = p_run_id and t.path = f.path and t.sha256 = decode(f."baseSha256", 'hex')
    )
  ) then
    raise exception 'another version of the transcript of % was stored meanwhile', p_run_id
      using errcode = 'serialization_failure';
  end if;

  delete from session_transcripts t
  where t.run_id = p_run_id and t.path <> all (previous)
    and not exists (select from json_to_recordset(files) f(path text) where f.path = t.path);

  delete from transcript_segments s using json_to_recordset(files) f(path text, "restAt" bigint)
  where s.run_id = p_run_id and s.path = f.path and s.at >= f."restAt";

  insert into session_transcripts as t (run_id, path, sha256, size, mode, modified_at)
  select p_run_id, f.path, decode(f.sha256, 'hex'), f.size, f.mode, f."modifiedAt"
  from json_to_recordset(files)
    f(path text, sha256 text, size bigint, mode integer, "modifiedAt" timestamptz)
  on conflict (run_id, path) do update
    set sha256 = excluded.sha256, size = excluded.size, mode = excluded.mode,
        modified_at = excluded.modified_at
    where (t.sha256, t.mode, t.modified_at)
      is distinct from (excluded.sha256, excluded.mode, excluded.modified_at);

  insert into transcript_segments (run_id, path, at, sha256, size)
  select p_run_id, f.path, f."restAt", decode(f."restSha256", 'hex'), f."restSize"
  from json_to_recordset(files)
    f(path text, "restAt" bigint, "restSha256" text, "restSize" bigint)
  where f."restSize" > 0;
end
$$;
