import { limits } from '../../../core/limits.ts';
import type { RunOutline } from '../../../core/runs/run.ts';
import type {
  PendingWebhook,
  WebhookCursor,
} from '../../../systems/postgres/maintenance/pending-webhooks.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';

/** A project that is no longer remembered begins with its oldest webhook. */
const rememberedProjects = 1_000;

/**
 * Starts a workflow for each pending webhook whose run's workflow is gone; it makes the remaining
 * attempts. Also starts one for each redelivery that the API has claimed but not started. A pass
 * takes one page. Safe to repeat: there is at most one such workflow per delivery.
 */
export function createWebhookResumer(deps: ReconcilerDeps): () => Promise<void> {
  let cursor: WebhookCursor = { afterProject: '', last: [] };
  return async () => {
    const page = await deps.reconcile.pendingWebhooks(deps.thresholds.webhookMs, cursor);
    const due = page.filter(({ isDue }) => isDue);
    const { left } = await forEachRun(due, deps, (run) =>
      run.redelivery === null
        ? resumeWebhook(deps, run)
        : startRedelivery(deps, run, run.redelivery),
    );
    cursor = nextCursor(cursor, page, left[0]);
  };
}

/** Each project continues after its last webhook of the page, without those that were left. */
function nextCursor(
  { afterProject, last: before }: WebhookCursor,
  page: PendingWebhook[],
  firstLeft: PendingWebhook | undefined,
): WebhookCursor {
  const taken = firstLeft === undefined ? page : page.slice(0, page.indexOf(firstLeft));
  const last = new Map(before.map((one) => [one.projectId, one]));
  for (const { projectId, runId, endedAt, redelivery } of taken) {
    if (redelivery !== null || endedAt === null) continue;
    last.delete(projectId); // so that it moves to the end
    last.set(projectId, { projectId, runId, endedAt });
  }
  return {
    afterProject: nextProject(afterProject, page, firstLeft),
    last: [...last.values()].slice(-rememberedProjects),
  };
}

/** A page without room for all projects has one webhook of each, in the order of the projects. */
function nextProject(
  before: string,
  page: PendingWebhook[],
  firstLeft: PendingWebhook | undefined,
): string {
  const projects = page
    .filter(({ redelivery }) => redelivery === null)
    .map(({ projectId }) => projectId);
  if (new Set(projects).size < limits.reconciler.webhooksPerPass) {
    return firstLeft === undefined ? '' : before;
  }
  const end = firstLeft === undefined ? projects.length : projects.indexOf(firstLeft.projectId);
  return projects[end - 1] ?? before;
}

async function startRedelivery(
  { temporal, webhooks, logger }: ReconcilerDeps,
  { runId, requestId }: RunOutline,
  delivery: number,
): Promise<void> {
  const outcome = await temporal.startWebhook({ runId, firstAttempt: 1, delivery });
  await webhooks.markRedeliveryStarted(runId, delivery);
  logger.info({ runId, requestId, delivery, outcome }, 'redelivery_started_by_reconciler');
}

export async function resumeWebhook(deps: ReconcilerDeps, run: RunOutline): Promise<void> {
  if ((await deps.temporal.describe(run.workflowId)) === 'running') return;
  const { runId, requestId } = run;
  const firstAttempt = (await attemptsMade(deps, run)) + 1;
  if (firstAttempt > limits.webhook.attempts) return deps.webhooks.drop(runId);
  // A finished workflow has delivered it or given up, in a time that the database has lost.
  if (await deps.temporal.hasFinished(run.workflowId)) return deps.webhooks.drop(runId);
  const outcome = await deps.temporal.startWebhook({ runId, firstAttempt });
  if (outcome === 'already') return deps.webhooks.drop(runId);
  deps.logger.info({ runId, requestId, firstAttempt }, 'webhook_resumed');
}

/** The highest attempt number, because the database may have lost some attempts in a restore. */
async function attemptsMade(
  { webhooks, temporal }: ReconcilerDeps,
  { runId, workflowId }: RunOutline,
): Promise<number> {
  const made = (await webhooks.attempts(runId)).filter(({ delivery }) => delivery === 0);
  const known = await temporal.webhookAttempts(workflowId);
  return Math.max(known, ...made.map(({ attempt }) => attempt));
}
