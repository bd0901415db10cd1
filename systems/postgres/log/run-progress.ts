import type { EndCause } from '../../../core/runs/end-cause.ts';
import type { AgentStatus, RunStatus } from '../../../core/runs/run.ts';
import type { Db } from '../client/pool.ts';

/** The progress of a run, which readers of its log poll. The log is final once `endedAt` is set. */
export interface RunProgress {
  lastSeq: number;
  status: RunStatus;
  agentStatus: AgentStatus | null;
  endedAt: Date | null;
  endCause: EndCause | null;
  exitCode: number | null;
  deletedAt: Date | null;
}

/**
 * `restores`: how often the database was restored. Then the log may be shorter than what was read.
 */
type PolledProgress = RunProgress & { restores: number };

export async function readRunProgress(db: Db, runId: string): Promise<RunProgress | null> {
  return (await readProgressOfRuns(db, [runId])).get(runId) ?? null;
}

/** The progress of several runs with one query. */
export async function readProgressOfRuns(
  db: Db,
  runIds: string[],
): Promise<Map<string, PolledProgress>> {
  const { rows } = await db.query<PolledProgress & { runId: string }>(
    `select r.id as "runId", l.last_seq as "lastSeq", r.status, r.agent_status as "agentStatus",
            r.ended_at as "endedAt", r.end_cause as "endCause", r.exit_code as "exitCode",
            r.deleted_at as "deletedAt", (select count(*) from restores) as restores
     from runs r join run_logs l on l.run_id = r.id
     where r.id = any($1)`,
    [runIds],
  );
  return new Map(rows.map(({ runId, ...state }) => [runId, state]));
}
