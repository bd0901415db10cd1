import type { ServiceEvent } from '../../../core/frames/frame.ts';
import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';

/** Clients cause these events, also while the agent is idle. */
const eventsOfClients: ServiceEvent[] = ['message_withdrawn', 'files_skipped'];

/** SQL that expects `run_logs l`: the time of the last frame that the agent may have caused. */
const lastActiveAt = `(
  select f.at from frames f
  where f.run_id = l.run_id and f.event not in ('${eventsOfClients.join("', '")}')
  order by f.seq desc limit 1)`;

/**
 * SQL that expects `run_logs l` and its agent state `m.of`. True while background tasks run, while
 * a turn that one has started is in progress, and for `turnStartMs` after the last task has ended,
 * because the agent should start a turn then. All of it is lost with the sandbox.
 */
export const hasBackgroundWork = `
  coalesce((m.of ->> 'isInTurn')::boolean or (m.of ->> 'backgroundTasks')::integer > 0
    or case when (m.of ->> 'isTurnDue')::boolean then
      ${lastActiveAt} > db_clock() - interval '${limits.eviction.turnStartMs} ms'
    end, false)`;

interface IdleState {
  /** Since the end of the last turn that a message started. Null if the session has work. */
  idleForMs: number | null;
  /** Since the agent's last frame; 0 while it has background work. Null without any frame. */
  inactiveForMs: number | null;
}

/** An idle agent causes no frames, so its last one marks the end of a turn or background task. */
export async function findIdleState(db: Db, runId: string): Promise<IdleState> {
  const msSince = (at: string): string =>
    `(extract(epoch from db_clock() - ${at}) * 1000)::double precision`;
  const { rows } = await db.query<IdleState>(
    `select
       case when not session_has_work(s.run_id) then ${msSince('s.idle_since')} end as "idleForMs",
       case when ${hasBackgroundWork} then 0 else ${msSince(lastActiveAt)} end as "inactiveForMs"
     from sessions s
     join run_logs l on l.run_id = s.run_id
     cross join lateral (select l.agent_state::json as of) m
     where s.run_id = $1`,
    [runId],
  );
  return rows[0] ?? { idleForMs: null, inactiveForMs: null };
}
