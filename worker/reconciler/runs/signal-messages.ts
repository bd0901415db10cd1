import type { RunOutline } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { stepDeadline } from '../step-deadline.ts';

/**
 * Signals stored messages that the API could not signal, or could not mark as signalled. The
 * workflow ignores a second signal. If the workflow has ended, its session ends, too. The next pass
 * continues after the last session, so that failed signals do not delay the others.
 */
export function createMessageSignaller(deps: ReconcilerDeps): () => Promise<void> {
  const { messages, temporal, logger, thresholds } = deps;
  let after: string | undefined;

  async function signal(run: RunOutline, messageId: string): Promise<void> {
    const { runId, requestId } = run;
    try {
      const outcome = await temporal.signalMessage(run, messageId);
      await messages.markSignalled(messageId);
      logger.info({ runId, requestId, messageId, outcome }, 'message_signalled_by_reconciler');
    } catch (error) {
      logger.warn({ err: error, runId, requestId, messageId }, 'reconcile_message_failed');
    }
  }

  return async () => {
    const deadline = stepDeadline();
    for (const { run, messageId } of await messages.unsignalled(thresholds.unstartedMs, after)) {
      if (deadline.isOver()) return;
      after = run.runId;
      await signal(run, messageId);
    }
  };
}
