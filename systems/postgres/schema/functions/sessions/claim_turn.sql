-- Delivers the session's oldest message to a sandbox, and announces each attempt in the log. A
-- sandbox that already has it receives it again, because the process that asked first may have
-- died. A message that was delivered to `p_attempts_max` other sandboxes fails instead.
create or replace function claim_turn(
  p_run_id uuid,
  p_generation integer,
  p_token bigint,
  p_attempts_max integer
)
returns table (
  outcome text, message_id uuid, message text, is_accepted boolean, started_at timestamptz,
  seq bigint, at timestamptz, data text
)
language plpgsql volatile rows 1 as $$
declare
  run runs;
  session sessions;
  oldest session_messages;
begin
  perform from run_logs l
    where l.run_id = p_run_id and l.lease_token = p_token and not l.is_final for update;
  select * into run from runs r where r.id = p_run_id;
  if not found or run.generation <> p_generation or run.end_cause is not null then
    outcome := 'sandbox_ended';
    return next;
    return;
  end if;
  select * into oldest from session_messages m
    where m.run_id = p_run_id and m.ended_at is null order by m.position limit 1;
  if oldest.generation is distinct from p_generation
    and oldest.delivery_attempts >= p_attempts_max
  then
    perform fail_turns(p_run_id, p_attempts_max, 'max_reconnects_exceeded');
    select * into oldest from session_messages m
      where m.run_id = p_run_id and m.ended_at is null order by m.position limit 1;
  end if;
  if oldest.id is null then
    outcome := 'none';
    return next;
    return;
  end if;

  outcome := 'turn';
  if oldest.generation is distinct from p_generation then
    select * into session from sessions s where s.run_id = p_run_id;
    if session.acknowledged_generation >= p_generation
      and session.started_config_version < session.config_version
    then
      outcome := 'reconfigure';
      return next;
      return;
    end if;
    data := case when oldest.delivery_attempts = 0
      then json_build_object('messageId', oldest.id, 'text', oldest.text)
      else json_build_object(
        'messageId', oldest.id, 'text', oldest.text, 'attempt', oldest.delivery_attempts + 1
      )
    end::text;
    seq := append_own_frame(p_run_id, 'user_message', data, 'chat');
    at := db_clock();
    update session_messages m
      set generation = p_generation, delivery_attempts = m.delivery_attempts + 1,
          started_at = db_clock(), is_accepted = false
      where m.id = oldest.id returning m.* into oldest;
  end if;
  message_id := oldest.id;
  message := oldest.text;
  is_accepted := oldest.is_accepted;
  started_at := oldest.started_at;
  return next;
end
$$;
