import type { FastifyBaseLogger } from 'fastify';
import { type Failpoint, failpoint } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { createBatchedWriter } from '../lib/async/batched-writer.ts';
import type { ApiDeps } from './deps.ts';

interface WorkflowMarks {
  started: (runId: string) => void;
  signalled: (messageId: string) => void;
  /** Writes the remaining marks. */
  close: () => Promise<void>;
}

interface MarkDeps {
  runs: Pick<ApiDeps['runs'], 'markWorkflowsStarted'>;
  messages: Pick<ApiDeps['messages'], 'markMessagesSignalled'>;
  logger: FastifyBaseLogger;
}

/**
 * Records in batches which workflows were started and signalled: one commit for many calls. If
 * marks are lost with the process, the reconciler repeats the calls, which then change nothing.
 */
export function createWorkflowMarks({ runs, messages, logger }: MarkDeps): WorkflowMarks {
  const onError = (err: unknown) => logger.warn({ err }, 'workflow_mark_failed');
  const started = createMarkWriter('trigger.marked', runs.markWorkflowsStarted, onError);
  const signalled = createMarkWriter('chat.marked', messages.markMessagesSignalled, onError);
  return {
    started: started.add,
    signalled: signalled.add,
    async close() {
      await Promise.all([started.close(), signalled.close()]);
    },
  };
}

/** `mark` returns the IDs of locked rows, which are marked again. */
function createMarkWriter(
  marked: Failpoint,
  mark: (ids: string[]) => Promise<string[]>,
  onError: (error: unknown) => void,
) {
  const writer = createBatchedWriter<string>({
    everyMs: limits.workflow.markEveryMs,
    merge: (id) => id,
    async write(ids) {
      const locked = await mark(ids);
      failpoint(marked);
      locked.forEach(add);
    },
    onError,
  });
  const add = (id: string): void => writer.add(id, id);
  return { add, close: () => writer.close() };
}
