// Ends a run once. One transaction closes the log, keeps the cause that was recorded first,
// releases the slot, claims the webhook with its body, and deletes the secrets. It locks the log
// before the run, like every writer of a log, so that they cannot deadlock.

import { failpoint } from '../../../core/failpoint.ts';
import { storedFilesOf } from '../../../core/files/stored-files.ts';
import { limits } from '../../../core/limits.ts';
import { type EndCause, errorOf, type RunEnd } from '../../../core/runs/end-cause.ts';
import { finalAgentStatus } from '../../../core/runs/final-agent-status.ts';
import type { Run } from '../../../core/runs/run.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import { webhookBody } from '../../../core/webhook.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { type RunRow, runColumns, toRun } from './run-row.ts';
import { parseSnapshotRecord, type SnapshotRecord } from './snapshot-record.ts';

const { backlogPerProject, commonMax, commonForMs } = limits.webhook;

export interface EndRunRequest extends RunEnd {
  runId: string;
  /** For a plain run: whether the final state of its working directory was stored. */
  filesStored?: boolean;
}

interface RunEnded {
  /** Whether the run has a webhook; the same at every call. */
  webhook: boolean;
  cause: EndCause;
  /** Whether the run's host still has to store its files. */
  hasUnstoredFiles: boolean;
  /** Whether the project has as many undelivered webhooks as may use the common slots. */
  hasWebhookBacklog: boolean;
  /** Whether another run may wait for the slot. */
  hasWaiting: boolean;
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
    const { run: locked, now, ...stored } = await lockRun(db, request.runId);
    if (locked.endedAt !== null) return { isFirst: false, run: locked, ...stored };
    const end = firstCause(locked, request);
    const run = withFinalAgentStatus(await failRemainingMessages(db, locked, errorOf(end)), end);
    const hasUnstoredFiles = request.filesStored !== true && hasFilesToStore(run);
    const files = storedFilesOf(stored.snapshot, hasUnstoredFiles);
    const hasCallback = run.webhook.state === 'waiting';
    const isReported = hasCallback || stored.hasEndpoints;
    const body = isReported ? webhookBody({ run, end, finishedAt: now, files }) : null;
    const usesCommonSlots = hasCallback && !stored.hasWebhookBacklog;
    const sent = { body, hasCallback, hasEndpoints: stored.hasEndpoints, usesCommonSlots };
    const toWrite = { end, now, hasUnstoredFiles, ...sent };
    const written = await writeEnd(db, run, toWrite);
    return { ...stored, isFirst: true, run: written, hasUnstoredFiles };
  });
  if (ended.isFirst) onEnded?.(ended.run);
  return endedAs(ended);
}

/** A session stores its files after every turn. Those of a deleted run cannot be read. */
const hasFilesToStore = ({ sessionId, startedAt, deletedAt }: Run): boolean =>
  sessionId === null && startedAt !== null && deletedAt === null;

function endedAs(ended: Omit<RunEnded, 'webhook' | 'cause'>): RunEnded {
  const { run, hasUnstoredFiles, hasWebhookBacklog, hasWaiting } = ended;
  if (run.endCause === null) throw new Error(`run ${run.runId} ended without a cause`);
  const webhook = run.webhook.state !== 'none';
  return { webhook, cause: run.endCause, hasUnstoredFiles, hasWebhookBacklog, hasWaiting, run };
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
    update run_logs
    set is_final = true, lease_owner = null, lease_expires_at = null,
        unpacked_since = case when is_final then unpacked_since else db_clock() end
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

/** The event that endpoints get at the end of `r`. */
export const endEvent = `case when r.session_id is null then 'run.finished' else 'session.ended' end`;

interface LockedRun {
  run: Run;
  now: Date;
  /** The last snapshot; null if there is none. */
  snapshot: SnapshotRecord | null;
  hasUnstoredFiles: boolean;
  hasWebhookBacklog: boolean;
  /** Endpoints of the project get an event at this end. */
  hasEndpoints: boolean;
  hasWaiting: boolean;
}

type LockedRow = RunRow & Omit<LockedRun, 'run' | 'snapshot'> & { snapshot: string | null };

async function lockRun(db: Db, runId: string): Promise<LockedRun> {
  const { rows } = await db.query<LockedRow>(
    `select ${runColumns}, l.last_seq, db_clock() as now, r.snapshot,
       r.has_unstored_files as "hasUnstoredFiles",
       has_webhook_backlog(r, $2, $3, $4 * interval '1 ms') as "hasWebhookBacklog",
       exists (
         select from webhook_endpoints e
         where e.project_id = r.project_id and e.removed_at is null
           and ${endEvent} = any(e.event_types)
       ) as "hasEndpoints",
       has_waiting(r.id) as "hasWaiting"
     from runs r join run_logs l on l.run_id = r.id
     where r.id = $1
     for no key update of r`,
    [runId, backlogPerProject, commonMax, commonForMs],
  );
  const row = rows[0];
  if (!row) throw new Error(`cannot end run ${runId}: it does not exist`);
  const { now, hasUnstoredFiles, hasWebhookBacklog, hasEndpoints, hasWaiting } = row;
  const snapshot = parseSnapshotRecord(row.snapshot);
  const toSend = { hasWebhookBacklog, hasEndpoints };
  return { run: toRun(row), now, snapshot, hasUnstoredFiles, ...toSend, hasWaiting };
}

interface WrittenEnd {
  end: RunEnd;
  /** Null if nothing is sent. */
  body: string | null;
  hasCallback: boolean;
  hasEndpoints: boolean;
  now: Date;
  hasUnstoredFiles: boolean;
  usesCommonSlots: boolean;
}

async function writeEnd(db: Db, run: Run, written: WrittenEnd): Promise<Run> {
  const { end, body, hasCallback, hasEndpoints, now, hasUnstoredFiles, usesCommonSlots } = written;
  const countedIn = run.sessionId === null ? null : run.projectId;
  const ending = [run.runId, now, end.cause, end.detail, end.exitCode];
  const { rows } = await db.query<RunRow>(
    `with deleted_config as (delete from run_configs where run_id = $1),
     unsealed as (update sessions set config_sealed = null where run_id = $1),
     counted as (
       update open_sessions set count = greatest(count - 1, 0) where project_id = $10
     ),
     events as (
       insert into webhook_events (endpoint_id, project_id, run_id, request_id, event, body, state)
       select e.id, r.project_id, r.id, r.request_id, ${endEvent}, $6::text,
         case when e.url is null then 'held' else 'pending' end
       from runs r join webhook_endpoints e on e.project_id = r.project_id
       where r.id = $1 and $13 and e.removed_at is null and ${endEvent} = any(e.event_types)
       returning id
     ),
     bodies_counted as (
       insert into stored_bytes_changes (project_id, kind, bytes)
       select r.project_id, 'messages', copies * octet_length($6::text)
       from runs r cross join (
         select (select count(*) from events) + $12::boolean::integer as copies
       ) c
       where r.id = $1 and copies > 0
     )
     update runs r
     set status = 'sleep', ended_at = $2, end_cause = $3, end_detail = $4, exit_code = $5,
         end_cause_at = coalesce(end_cause_at, $2), agent_status = $8,
         webhook_state = case when $12 then 'pending' else webhook_state end,
         webhook_delivery_id = case when $12 then gen_random_uuid() end,
         webhook_body = case when $12 then $6 end, has_unstored_files = $9,
         webhook_uses_common_slots = $11
     where id = $1
     returning ${runColumns}, $7::bigint as last_seq`,
    [
      ...[...ending, body, run.lastSeq, run.agentStatus, hasUnstoredFiles, countedIn],
      ...[usesCommonSlots, hasCallback, hasEndpoints],
    ],
  );
  if (!rows[0]) throw new Error(`run ${run.runId} was deleted while it was ended`);
  failpoint('end.written');
  return toRun(rows[0]);
}
