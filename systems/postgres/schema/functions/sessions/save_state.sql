-- Replaces the files and the conversation with which the session's next sandbox starts, as
-- `replace_snapshot` does for the files of a run. Files and conversation are saved together,
-- because an agent whose files are older or newer than its conversation would work with wrong
-- assumptions. `p_transcript` is null without a conversation. All of this is one call, because a
-- worker that is suspended within a transaction would block its successor.
create or replace function save_state(
  p_run_id uuid, p_generation integer, p_token bigint,
  p_at timestamptz, p_workspace json, p_transcript json, p_record text
)
returns text language plpgsql volatile as $$
declare
  outcome text;
begin
  outcome := replace_snapshot(p_run_id, p_generation, p_token, p_workspace, p_record);
  if outcome is null then
    return null;
  end if;
  if p_transcript is not null then
    perform replace_transcript(p_run_id, p_transcript);
  end if;
  update sessions s set snapshot_at = p_at where s.run_id = p_run_id;
  return outcome;
end
$$;
