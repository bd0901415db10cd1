import { limits } from '../../../core/limits.ts';
import type { MemoRun } from '../../../core/temporal/workflow-memo.ts';
import type { Db } from '../client/pool.ts';

/** A run that has a workflow in Temporal and no row in the database. */
export interface MissingRun extends MemoRun {
  workflowId: string;
  startedAt: Date;
  /** Null if its workflow was open. */
  closedAt: Date | null;
}

/**
 * Inserts each as an ended run, with its idempotency key. Returns the ids of those inserted. Each
 * statement locks one project, so that no other one waits with it.
 */
export async function importRuns(db: Db, missing: MissingRun[]): Promise<string[]> {
  const inserted: string[] = [];
  for (const projectId of new Set(missing.map((run) => run.projectId))) {
    const runs = missing.filter((run) => run.projectId === projectId);
    inserted.push(...(await importRunsOfProject(db, runs)));
  }
  return inserted;
}

async function importRunsOfProject(db: Db, missing: MissingRun[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select m."runId" as id
     from json_to_recordset($1) m(
       "workflowId" text, "runId" uuid, "flowId" uuid, "projectId" text, "triggerType" text,
       "sessionId" text, "timeoutSeconds" integer, "startedAt" timestamptz, "closedAt" timestamptz
     )
     where import_run(
       m."workflowId", m."runId", m."flowId", m."projectId", m."triggerType", m."sessionId",
       m."timeoutSeconds", m."startedAt", m."closedAt", $2
     )`,
    [JSON.stringify(missing), `${limits.idempotency.windowMs} ms`],
  );
  return rows.map(({ id }) => id);
}
