import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction, inDryRun } from '../client/transaction.ts';
import {
  addInputFiles,
  type InputFiles,
  type InputFileTarget,
  planFlowUpdate,
} from './input-files.ts';

export type FlowFileStore = ReturnType<typeof createFlowFileStore>;

export function createFlowFileStore(pool: Pool) {
  return {
    /** The newest version of a file; null if the flow has no such file. */
    find: (flowId: string, path: string) => findFlowFile(pool, flowId, path),
    /** Whether the files could be added now; changes nothing. */
    check: (flowId: string, files: InputFiles) =>
      inDryRun(pool, (db) => planFlowUpdate(db, flowId, files)),
    /** Adds the files to the run, and those with the scope `flow` to its flow. Safe to repeat. */
    add: (run: InputFileTarget, files: InputFiles) =>
      inBriefTransaction(pool, (db) => addInputFiles(db, run, files)),
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
