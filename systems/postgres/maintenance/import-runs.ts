import { limits } from '../../../core/limits.ts';
import type { MemoRun } from '../../../core/temporal/workflow-memo.ts';
import type { Db } from '../client/pool.ts';

/** What Temporal knows of a run that is not here. */
export interface MissingRun extends MemoRun {
  workflowId: string;
  startedAt: Date;
  /** Null where its workflow was open. */
  closedAt: Date | null;
}

/** Each as a run that has ended, with its idempotency key. Returns those that were missing. */
export async function importRuns(db: Db, lost: MissingRun[]): Promise<string[]> {
  if (lost.length === 0) return [];
  const { rows } = await db.query<{ id: string }>(
    `select l."runId" as id
     from json_to_recordset($1) l(
       "workflowId" text, "runId" uuid, "flowId" uuid, "projectId" text, "triggerType" text,
       "sessionId" text, "timeoutSeconds" integer, "startedAt" timestamptz, "closedAt" timestamptz
     )
     where import_run(
       l."workflowId", l."runId", l."flowId", l."projectId", l."triggerType", l."sessionId",
       l."timeoutSeconds", l."startedAt", l."closedAt", $2
     )`,
    [JSON.stringify(lost), `${limits.idempotencyWindowMs} ms`],
  );
  return rows.map(({ id }) => id);
}
