import { limits } from '../../../core/limits.ts';
import type { Labels, Run } from '../../../core/runs/run.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import { sealContext } from '../admission/run-config-store.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { findRun } from '../runs/find-run.ts';
import { sealSessionConfig } from './session-config-store.ts';

export interface OpenSessionRequest {
  runId: string;
  sessionId: string;
  /** Whether the client chose the id, and may have used it before. */
  hasClientId: boolean;
  flowId: string;
  projectId: string;
  keyId: string | null;
  keyName: string;
  keyCreatedBy: string;
  requestId: string | null;
  name: string | null;
  labels: Labels;
  partialMessages: boolean;
  /** Applies to each turn. */
  timeoutSeconds: number;
  model: string | null;
  mcpServerNames: string[];
  config: RunConfig;
}

/**
 * The unique index decides between concurrent calls: the later one returns the run of the earlier
 * one. `reconciling`: the session may be one that a restore has lost, which is not known yet.
 */
export async function openSession(
  pool: Pool,
  sealer: Sealer,
  opening: OpenSessionRequest,
): Promise<Run | 'reconciling'> {
  const known = await findOpened(pool, opening);
  if (known !== null) return known;
  const made = await inTransaction(pool, async (db) => {
    await insertRun(db, sealer, opening);
    const isOurs = await insertSession(db, sealer, opening);
    return isOurs ? findRun(db, opening.runId) : Promise.reject(new SessionTaken());
  }).catch((error: unknown) => {
    if (error instanceof SessionTaken) return findOpened(pool, opening);
    throw error;
  });
  if (made === null) throw new Error('the session was deleted while it was opened');
  return made;
}

/** Rolls back the run that was inserted for the session. */
class SessionTaken extends Error {}

/** One statement, so that a session imported meanwhile is found. */
async function findOpened(
  db: Db,
  { flowId, sessionId, hasClientId }: OpenSessionRequest,
): Promise<Run | 'reconciling' | null> {
  const { rows } = await db.query<{ run_id: string | null; isReconciling: boolean }>(
    `select
       (select run_id from sessions where flow_id = $1 and session_id = $2) as run_id,
       may_have_lost_runs($3 * interval '1 ms') as "isReconciling"`,
    [flowId, sessionId, limits.host.staleMs],
  );
  const { run_id: runId = null, isReconciling = false } = rows[0] ?? {};
  if (runId !== null) return findRun(db, runId);
  return isReconciling && hasClientId ? 'reconciling' : null;
}

async function insertRun(db: Db, sealer: Sealer, opening: OpenSessionRequest): Promise<void> {
  await db.query(
    `insert into runs (
       id, flow_id, project_id, session_id, trigger_type, name, labels, prompt, partial_messages,
       key_id, key_name, key_created_by, mcp_server_names, timeout_seconds, model, status,
       workflow_id, context_sealed, request_id, max_budget_usd, files_version
     )
     select $1, f.id, $3, $4, 'api', $5, $6, '', $7, $8, $9, $10, $11, $12, $13, 'sleep', $14, $15,
       $16, f.max_budget_usd, f.files_version
     from flows f where f.id = $2 for share`,
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
    ],
  );
  await db.query('insert into run_logs (run_id) values ($1)', [opening.runId]);
}

async function insertSession(
  db: Db,
  sealer: Sealer,
  opening: OpenSessionRequest,
): Promise<boolean> {
  const { runId, flowId, sessionId, config } = opening;
  const { rowCount } = await db.query(
    `insert into sessions (run_id, flow_id, session_id, config_sealed) values ($1, $2, $3, $4)
     on conflict (flow_id, session_id) do nothing`,
    [runId, flowId, sessionId, sealSessionConfig(sealer, runId, config)],
  );
  return rowCount === 1;
}
