import { limits } from '../../../core/limits.ts';
import type { Labels, Run, TriggerType } from '../../../core/runs/run.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import { sealContext } from '../admission/run-config-store.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { findRun } from '../runs/find-run.ts';
import { recordRunChange } from '../runs/record-run-change.ts';
import { sealSessionConfig } from './session-config-store.ts';

export interface OpenSessionRequest {
  runId: string;
  sessionId: string;
  /** Whether the client chose the id, and may have used it before. */
  hasClientId: boolean;
  flowId: string;
  projectId: string;
  triggerType: TriggerType;
  /** Null if no API key opened the session. */
  keyId: string | null;
  keyName: string;
  keyCreatedBy: string;
  requestId: string | null;
  name: string | null;
  labels: Labels;
  partialMessages: boolean;
  /** Receives the webhook at the session's end. */
  callbackUrl: string | null;
  /** Applies to each turn. */
  timeoutSeconds: number;
  model: string | null;
  mcpServerNames: string[];
  config: RunConfig;
  /** Postgres' disk is almost full, so a new session is rejected; by default it is not. */
  isPostgresDiskShort?: boolean;
  /** The operator who opens the session; by default it has no entry in the audit log. */
  author?: ChangeAuthor;
}

type ArchivedReason = 'FLOW_ARCHIVED' | 'PROJECT_ARCHIVED';

/** Both numbers are null unless a limit was reached. */
export interface SessionRejection {
  reason: 'SESSION_LIMIT' | 'STORAGE_QUOTA' | 'POSTGRES_DISK_SHORT' | ArchivedReason;
  limit: number | null;
  current: number | null;
}

type SessionOpening = Run | 'reconciling' | SessionRejection;

/**
 * The unique index decides between concurrent calls: the later one returns the run of the earlier
 * one. `reconciling`: the session may be one that a restore has lost, which is not known yet.
 */
export async function openSession(
  pool: Pool,
  sealer: Sealer,
  opening: OpenSessionRequest,
): Promise<SessionOpening> {
  const known = await findOpened(pool, opening);
  if (known !== null) return known;
  const made = await inTransaction(pool, async (db) => {
    const isAdmitted = await insertRun(db, sealer, opening);
    if (!isAdmitted || !(await insertSession(db, sealer, opening))) throw new NotOpened();
    const { runId, author } = opening;
    await recordRunChange(db, author, { runId, action: 'session_opened' });
    return findRun(db, runId);
  }).catch((error: unknown) => {
    if (error instanceof NotOpened) return null;
    throw error;
  });
  // Concurrent calls have opened the session, or as many as the project may have, or have archived
  // the flow or the project.
  return made ?? openSession(pool, sealer, opening);
}

/** Rolls back the run that was inserted for the session. */
class NotOpened extends Error {}

interface FoundOpening {
  run_id: string | null;
  isReconciling: boolean;
  archived: ArchivedReason | null;
  limit: number;
  current: number;
  /** Null if the storage quota is not used up; so is the next one. */
  storageLimit: number | null;
  stored: number | null;
}

/** One statement, so that a session imported meanwhile is found. */
async function findOpened(
  db: Db,
  { flowId, projectId, sessionId, hasClientId, isPostgresDiskShort }: OpenSessionRequest,
): Promise<SessionOpening | null> {
  const { rows } = await db.query<FoundOpening>(
    `select
       (select run_id from sessions where flow_id = $1 and session_id = $2) as run_id,
       may_have_lost_runs($3 * interval '1 ms') as "isReconciling",
       case
         when p.archived_at is not null then 'PROJECT_ARCHIVED'
         when not exists (select from flows f where f.id = $1 and f.archived_at is null)
           then 'FLOW_ARCHIVED'
       end as archived,
       p.max_open_sessions as "limit", coalesce(o.count, 0) as current,
       s."limit" as "storageLimit", s.current as stored
     from projects p
     left join open_sessions o on o.project_id = p.id
     left join storage_over_quota(p.id) s on true
     where p.id = $4`,
    [flowId, sessionId, limits.host.staleMs, projectId],
  );
  if (!rows[0]) throw new Error(`cannot open a session: no project ${projectId}`);
  const { run_id: runId, isReconciling, archived, limit, current, storageLimit, stored } = rows[0];
  if (archived !== null) return { reason: archived, limit: null, current: null };
  if (runId !== null) return findRun(db, runId);
  if (isPostgresDiskShort === true)
    return { reason: 'POSTGRES_DISK_SHORT', limit: null, current: null };
  if (isReconciling && hasClientId) return 'reconciling';
  if (storageLimit !== null && stored !== null)
    return { reason: 'STORAGE_QUOTA', limit: storageLimit, current: stored };
  return current >= limit ? { reason: 'SESSION_LIMIT', limit, current } : null;
}

/** Waits while the flow is being archived. False if it is archived. */
async function insertRun(db: Db, sealer: Sealer, opening: OpenSessionRequest): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into runs (
       id, flow_id, project_id, session_id, trigger_type, name, labels, prompt, partial_messages,
       key_id, key_name, key_created_by, mcp_server_names, timeout_seconds, model, status,
       workflow_id, context_sealed, request_id, callback_url, webhook_state, max_budget_usd,
       files_version, flow_version
     )
     select $1, f.id, $3, $4, $18, $5, $6, '', $7, $8, $9, $10, $11, $12, $13, 'sleep', $14, $15,
       $16, $17::text, case when $17 is null then 'none' else 'waiting' end, f.max_budget_usd,
       f.files_version, f.version
     from flows f where f.id = $2 and f.archived_at is null for share`,
    [
      opening.runId,
      opening.flowId,
      opening.projectId,
      opening.sessionId,
      opening.name,
      JSON.stringify(opening.labels),
      opening.partialMessages,
      opening.keyId,
      opening.keyName,
      opening.keyCreatedBy,
      opening.mcpServerNames,
      opening.timeoutSeconds,
      opening.model,
      `session/${opening.runId}`,
      sealContext(sealer, opening.runId, opening.config.context),
      opening.requestId,
      opening.callbackUrl,
      opening.triggerType,
    ],
  );
  if (rowCount === 0) return false;
  await db.query('insert into run_logs (run_id) values ($1)', [opening.runId]);
  return true;
}

/**
 * Counts the session and inserts it. False if the project may have no further one, or if another
 * call has inserted it: the transaction must be rolled back. Openings and ends of sessions wait for
 * each other here, so locks of flows are taken before.
 */
async function insertSession(
  db: Db,
  sealer: Sealer,
  opening: OpenSessionRequest,
): Promise<boolean> {
  const { runId, flowId, projectId, sessionId, config } = opening;
  const { rowCount } = await db.query(
    `with counted as (
       insert into open_sessions as o (project_id, count)
       select p.id, 1 from projects p
       where p.id = $5 and p.max_open_sessions > 0 and p.archived_at is null
       on conflict (project_id) do update set count = o.count + 1
         where o.count < (select p.max_open_sessions from projects p where p.id = $5)
       returning project_id
     )
     insert into sessions (run_id, flow_id, session_id, config_sealed)
     select $1, $2, $3, $4 from counted
     on conflict (flow_id, session_id) do nothing`,
    [runId, flowId, sessionId, sealSessionConfig(sealer, runId, config), projectId],
  );
  return rowCount === 1;
}
