import type { EndCause } from '../../core/end-cause.ts';
import type { AgentStatus, RunStatus } from '../../core/run.ts';
import type { Db } from './pool.ts';

/** What a reader of the log asks again and again; the log is final once `endedAt` is set. */
export interface LogState {
  lastSeq: number;
  status: RunStatus;
  agentStatus: AgentStatus | null;
  endedAt: Date | null;
  endCause: EndCause | null;
  exitCode: number | null;
  deletedAt: Date | null;
}

export async function readLogState(db: Db, runId: string): Promise<LogState | null> {
  const { rows } = await db.query<LogState>(
    `select c.last_seq as "lastSeq", r.status, r.agent_status as "agentStatus",
            r.ended_at as "endedAt", r.end_cause as "endCause", r.exit_code as "exitCode",
            r.deleted_at as "deletedAt"
     from runs r join cursors c on c.run_id = r.id
     where r.id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}
