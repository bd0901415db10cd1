/**
 * The sessions that hold a place and have nothing to do. One that asks its user something is not idle,
 * though no message has made it ask; one that was left with something in the background, which ends with
 * its sandbox, goes on and should come last.
 */
export const idleSessions = `
  select r.id, r.host_id, s.idle_since,
         coalesce((m.of ->> 'isInTurn')::boolean or (m.of ->> 'backgroundTasks')::integer > 0, false)
           as goes_on
  from runs r join sessions s on s.run_id = r.id
  join run_logs l on l.run_id = r.id cross join lateral (select l.agent_state::json as of) m
  where r.ended_at is null and r.holds_slot and r.end_cause is null and not session_has_work(r.id)
    and not exists (select from interactions a where a.run_id = r.id and a.outcome is null)`;
