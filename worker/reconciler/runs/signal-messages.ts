import type { ReconcilerDeps } from '../deps.ts';

/**
 * A message was stored, and whoever was to tell its session's workflow could not, or could not say so.
 * Told twice, the workflow finds it worked on. Where it has ended, so will its session.
 */
export async function signalMessages(deps: ReconcilerDeps): Promise<void> {
  const { messages, temporal, logger, thresholds } = deps;
  for (const { run, messageId } of await messages.unsignalled(thresholds.unstartedMs)) {
    const { runId, requestId } = run;
    try {
      const outcome = await temporal.signalMessage(run, messageId);
      await messages.markSignalled(messageId);
      logger.info({ runId, requestId, messageId, outcome }, 'message_signalled_by_reconciler');
    } catch (error) {
      logger.warn({ err: error, runId, requestId, messageId }, 'reconcile_message_failed');
    }
  }
}
