// Ends a run once. One transaction closes the log, keeps the cause that was recorded first,
// releases the slot, claims the webhook with its body, and deletes the secrets. It locks the log
// before the run, like every writer of a log, so that they cannot deadlock.

import { failpoint } from '../../../core/failpoint.ts';
import { type EndCause, errorOf, type RunEnd } from '../../../core/runs/end-cause.ts';
import { finalAgentStatus } from '../../../core/runs/final-agent-status.ts';
import type { Run } from '../../../core/runs/run.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import { webhookBody } from '../../../core/webhook.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { type RunRow, runColumns, toRun } from './run-row.ts';

export interface EndRunRequest extends RunEnd {
  runId: string;
}

interface RunEnded {
  /** Whether the run has a webhook; the same at every call. */
  webhook: boolean;
  cause: EndCause;
  run: Run;
}

/** A second call changes nothing and returns the result of the first one. */
export async function endRun(
  pool: Pool,
  request: EndRunRequest,
  onEnded?: (run: Run) => void,
): Promise<RunEnded> {
  const ended = await inTransaction(pool, async (db) => {
    await closeLog(db, request.runId);
    const { run: locked, now } = await lockRun(db, request.runId);
    if (locked.endedAt !== null) return { isFirst: false, run: locked };
    const end = firstCause(locked, request);
    const run = withFinalAgentStatus(await failRemainingMessages(db, locked, errorOf(end)), end);
    const body =
      run.webhook.state === 'waiting' ? webhookBody({ run, end, finishedAt: now }) : null;
    return { isFirst: true, run: await writeEnd(db, run, { end, body, now }) };
  });
  if (ended.isFirst) onEnded?.(ended.run);
  return endedAs(ended.run);
}

function endedAs(run: Run): RunEnded {
  if (run.endCause === null) throw new Error(`run ${run.runId} ended without a cause`);
  return { webhook: run.webhook.state !== 'none', cause: run.endCause, run };
}

function firstCause(run: Run, requested: RunEnd): RunEnd {
  const { exitCode } = requested;
  if (run.endCause !== null) return { cause: run.endCause, detail: run.endDetail, exitCode };
  return {
    cause: requested.cause,
    detail: requested.detail && stripUnstorable(requested.detail),
    exitCode,
  };
}

const withFinalAgentStatus = (run: Run, { cause }: RunEnd): Run => ({
  ...run,
  agentStatus: finalAgentStatus(run.agentStatus, cause),
});

async function closeLog(db: Db, runId: string): Promise<void> {
  const text = `
    update run_logs set is_final = true, lease_owner = null, lease_expires_at = null
    where run_id = $1`;
  await db.query(text, [runId]);
}

/** Messages that are not finished fail with the session; each gets a `turn_end`. */
async function failRemainingMessages(db: Db, run: Run, error: string | null): Promise<Run> {
  if (run.sessionId === null) return run;
  const text = 'select fail_turns($1, null, $2) as failed';
  const { rows } = await db.query<{ failed: number }>(text, [run.runId, error]);
  const failed = rows[0]?.failed ?? 0;
  return {
    ...run,
    lastSeq: run.lastSeq + failed,
    agentStatus: failed > 0 ? 'error' : run.agentStatus,
  };
}

async function lockRun(db: Db, runId: string): Promise<{ run: Run; now: Date }> {
  const { rows } = await db.query<RunRow & { now: Date }>(
    `select ${runColumns}, l.last_seq, db_clock() as now
     from runs r join run_logs l on l.run_id = r.id
     where r.id = $1
     for no key update of r`,
    [runId],
  );
  const row = rows[0];
  if (!row) throw new Error(`cannot end run ${runId}: it does not exist`);
  return { run: toRun(row), now: row.now };
}

async function writeEnd(
  db: Db,
  run: Run,
  { end, body, now }: { end: RunEnd; body: string | null; now: Date },
): Promise<Run> {
  const ending = [run.runId, now, end.cause, end.detail, end.exitCode];
  const { rows } = await db.query<RunRow>(
    `with deleted_config as (delete from run_configs where run_id = $1),
     unsealed as (update sessions set config_sealed = null where run_id = $1)
     update runs r
     set status = 'sleep', ended_at = $2, end_cause = $3, end_detail = $4, exit_code = $5,
         end_cause_at = coalesce(end_cause_at, $2), agent_status = $8,
         webhook_state = case when $6::text is null then webhook_state else 'pending' end,
         webhook_delivery_id = case when $6 is null then null else gen_random_uuid() end,
         webhook_body = $6
     where id = $1
     returning ${runColumns}, $7::bigint as last_seq`,
    [...ending, body, run.lastSeq, run.agentStatus],
  );
  if (!rows[0]) throw new Error(`run ${run.runId} was deleted while it was ended`);
  failpoint('end.written');
  return toRun(rows[0]);
}
