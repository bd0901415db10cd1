import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import {
  addInputFiles,
  type InputFiles,
  type InputFileTarget,
  planFlowUpdate,
} from './input-files.ts';

export type FlowFileStore = ReturnType<typeof createFlowFileStore>;

export function createFlowFileStore(pool: Pool) {
  return {
    /** The newest version of one; null where the flow has none. */
    find: (flowId: string, path: string) => findFlowFile(pool, flowId, path),
    /** Whether they could be given now; changes nothing. */
    check: (flowId: string, given: InputFiles) =>
      inTransaction(pool, (db) => planFlowUpdate(db, flowId, given)),
    /** Gives a run files of its own, and its flow those that are the flow's. Safe to repeat. */
    add: (run: InputFileTarget, given: InputFiles) =>
      inTransaction(pool, (db) => addInputFiles(db, run, given)),
  };
}

async function findFlowFile(
  db: Db,
  flowId: string,
  path: string,
): Promise<{ sha256: string; size: number } | null> {
  const { rows } = await db.query<{ sha256: string; size: number }>(
    `select encode(sha256, 'hex') as sha256, size from flow_files
     where flow_id = $1 and path = $2 and valid_to is null`,
    [flowId, path],
  );
  return rows[0] ?? null;
}
