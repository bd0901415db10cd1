-- Replaces the stored files of an agent's conversation; the caller has locked the run. Links and
-- folders are not stored.
create or replace function replace_transcript(p_run_id uuid, p_snapshot json)
returns void language plpgsql volatile as $$
declare
  previous text[] := array(
    select previous_versions('session_transcripts', p_run_id, p_snapshot)
  );
begin
  delete from session_transcripts t where t.run_id = p_run_id and t.path <> all (previous);

  insert into session_transcripts (run_id, path, sha256, size, mode, modified_at)
  select p_run_id, f.path, decode(f.sha256, 'hex'), f.size, f.mode, f."modifiedAt"
  from json_to_recordset(p_snapshot -> 'files')
    f(path text, sha256 text, size bigint, mode integer, "modifiedAt" timestamptz);
end
$$;
