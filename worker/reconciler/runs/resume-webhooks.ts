import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';

/**
 * Starts a workflow for each pending webhook whose run's workflow is gone; it makes the remaining
 * attempts. Also starts one for each redelivery that the API has claimed but not started. Safe to
 * repeat: there is at most one such workflow per delivery.
 */
export async function resumePendingWebhooks(deps: ReconcilerDeps): Promise<void> {
  const pending = await deps.reconcile.pendingWebhooks(deps.thresholds.webhookMs);
  await forEachRun(pending, deps, (run) =>
    run.redelivery === null ? resumeWebhook(deps, run) : startRedelivery(deps, run, run.redelivery),
  );
}

async function startRedelivery(
  { temporal, webhooks, logger }: ReconcilerDeps,
  { runId, requestId }: Run,
  delivery: number,
): Promise<void> {
  const outcome = await temporal.startWebhook({ runId, firstAttempt: 1, delivery });
  await webhooks.markRedeliveryStarted(runId, delivery);
  logger.info({ runId, requestId, delivery, outcome }, 'redelivery_started_by_reconciler');
}

export async function resumeWebhook(deps: ReconcilerDeps, run: Run): Promise<void> {
  if ((await deps.temporal.describe(run.workflowId)) === 'running') return;
  const { runId, requestId } = run;
  const firstAttempt = (await attemptsMade(deps, run)) + 1;
  if (firstAttempt > limits.webhook.attempts) return deps.webhooks.drop(runId);
  // A completed workflow has delivered it or given up, in a time that the database has lost.
  if (await deps.temporal.hasCompleted(run.workflowId)) return deps.webhooks.drop(runId);
  const outcome = await deps.temporal.startWebhook({ runId, firstAttempt });
  if (outcome === 'already') return deps.webhooks.drop(runId);
  deps.logger.info({ runId, requestId, firstAttempt }, 'webhook_resumed');
}

/** The highest attempt number, because the database may have lost some attempts in a restore. */
async function attemptsMade(
  { webhooks, temporal }: ReconcilerDeps,
  { runId, workflowId }: Run,
): Promise<number> {
  const made = (await webhooks.attempts(runId)).filter(({ delivery }) => delivery === 0);
  const known = await temporal.webhookAttempts(workflowId);
  return Math.max(known, ...made.map(({ attempt }) => attempt));
}
