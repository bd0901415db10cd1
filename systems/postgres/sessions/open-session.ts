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
  /** Chosen by whoever asks, who may have asked before; else it is new. */
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
  /** Of each turn. */
  timeoutSeconds: number;
  model: string | null;
  mcpServerNames: string[];
  config: RunConfig;
}

/**
 * The id's owner is settled by its index: of two at once the later finds the earlier one's run.
 * `unsettled`: it may be one that a restoration has lost, which is not found out yet.
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
  if (made === null) throw new Error('a session vanished while it was opened');
  return made;
}

/** Takes back the run that was made for it. */
class SessionTaken extends Error {}

/** Both are asked at one moment: what is settled meanwhile is found. */
async function findOpened(
  db: Db,
  { flowId, sessionId, hasClientId }: OpenSessionRequest,
): Promise<Run | 'reconciling' | null> {
  const { rows } = await db.query<{ run_id: string | null; isReconciling: boolean }>(
    `select
       (select run_id from sessions where flow_id = $1 and session_id = $2) as run_id,
       exists (select from restores where reconciled_at is null) as "isReconciling"`,
    [flowId, sessionId],
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
       workflow_id, context_sealed, request_id, files_version
     )
     select $1, f.id, $3, $4, 'api', $5, $6, '', $7, $8, $9, $10, $11, $12, $13, 'sleep', $14, $15,
       $16, f.files_version
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
