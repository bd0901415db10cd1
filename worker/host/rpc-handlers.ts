import type { Supervisor } from '../sandbox/supervisor.ts';
import type { RpcHandlers } from './rpc-server.ts';

export function fileHandlers({
  files,
}: Pick<Supervisor, 'files'>): Pick<RpcHandlers, 'store_file' | 'store_files' | 'write_files'> {
  return {
    store_file: ({ path }, { runId }) => files.store(runId, path),
    store_files: (_payload, { runId, signal }) => files.storeAll(runId, signal),
    write_files: (payload, { runId }) => files.write(runId, payload.files),
  };
}

/** The answers are in Postgres. This delivers them now. Safe to repeat. */
export function answerHandler(
  supervisor: Pick<Supervisor, 'deliverAnswers'>,
): Pick<RpcHandlers, 'answer_interaction'> {
  return {
    async answer_interaction(_payload, { runId }) {
      const isHere = await supervisor.deliverAnswers(runId);
      return { outcome: isHere ? 'delivered' : 'gone' };
    },
  };
}
