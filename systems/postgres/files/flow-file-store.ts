import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import type { Pool } from '../client/pool.ts';
import { inBriefTransaction, inDryRun } from '../client/transaction.ts';
import {
  deleteFlowFile,
  type FlowFileQuery,
  findFlowFile,
  hasTag,
  listFlowFiles,
  type RequiredTags,
  replaceFlowFiles,
  type SetCondition,
} from './flow-file-set.ts';
import {
  type AddedFilesTarget,
  addRecordedFiles,
  type InputFiles,
  planFlowUpdate,
} from './input-files.ts';

export type FlowFileStore = ReturnType<typeof createFlowFileStore>;

export function createFlowFileStore(pool: Pool) {
  return {
    list: (flowId: string, query: FlowFileQuery) => listFlowFiles(pool, flowId, query),
    find: (flowId: string, path: string) => findFlowFile(pool, flowId, path),
    /** Whether a change with these tags could be made now. */
    hasTag: (flowId: string, tags: RequiredTags) => hasTag(pool, flowId, tags),
    /** Whether the files could be added now; changes nothing. */
    check: (flowId: string, files: InputFiles) =>
      inDryRun(pool, (db) => planFlowUpdate(db, flowId, files)),
    /** Adds the files to the run, and those with the scope `flow` to its flow. Safe to repeat. */
    add: (run: AddedFilesTarget, files: InputFiles) =>
      inBriefTransaction(pool, (db) => addRecordedFiles(db, run, files)),
    /** Active runs keep the files with which they started. Safe to repeat without tags. */
    replace: (flowId: string, files: InputFile[], condition: SetCondition) =>
      inBriefTransaction(pool, (db) => replaceFlowFiles(db, flowId, { files, ...condition })),
    delete: (flowId: string, path: string, condition: SetCondition) =>
      inBriefTransaction(pool, (db) => deleteFlowFile(db, flowId, { path, ...condition })),
  };
}
