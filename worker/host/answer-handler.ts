import type { Supervisor } from '../sandbox/supervisor.ts';
import type { RpcHandlers } from './rpc-server.ts';

/** Answers are in Postgres; this host is told to look. Safe to repeat. */
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
