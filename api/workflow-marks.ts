import type { FastifyBaseLogger } from 'fastify';
import { failpoint } from '../core/failpoint.ts';
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
  messages: Pick<ApiDeps['messages'], 'markAllSignalled'>;
  logger: FastifyBaseLogger;
}

/**
 * Records in batches which workflows were started and signalled: one commit for many calls. If
 * marks are lost with the process, the reconciler repeats the calls, which then change nothing.
 */
export function createWorkflowMarks({ runs, messages, logger }: MarkDeps): WorkflowMarks {
  const onError = (err: unknown) => logger.warn({ err }, 'workflow_mark_failed');
  const started = createMarkWriter(onError, async (runIds) => {
    const locked = await runs.markWorkflowsStarted(runIds);
    failpoint('trigger.marked');
    return locked;
  });
  const signalled = createMarkWriter(onError, async (messageIds) => {
    const locked = await messages.markAllSignalled(messageIds);
    failpoint('chat.marked');
    return locked;
  });
  return {
    started: (runId) => started.add(runId, runId),
    signalled: (messageId) => signalled.add(messageId, messageId),
    async close() {
      await Promise.all([started.close(), signalled.close()]);
    },
  };
}

/** `mark` returns the IDs to mark again. */
function createMarkWriter(
  onError: (error: unknown) => void,
  mark: (ids: string[]) => Promise<string[]>,
) {
  const writer = createBatchedWriter<string>({
    everyMs: limits.workflow.markEveryMs,
    merge: (id) => id,
    async write(ids) {
      for (const locked of await mark(ids)) writer.add(locked, locked);
    },
    onError,
  });
  return writer;
}
