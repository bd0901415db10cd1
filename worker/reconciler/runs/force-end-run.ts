import { failpoint } from '../../../core/failpoint.ts';
import type { EndCause } from '../../../core/runs/end-cause.ts';
import type { RunOutline } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { resumeWebhook } from './resume-webhooks.ts';

export interface ForcedEnd {
  cause: EndCause;
  detail: string;
}

/**
 * Ends a run whose workflow cannot end it. A cause recorded earlier wins. No effect on an ended
 * run. If the workflow is gone, another workflow delivers the webhook.
 */
export async function forceEndRun(
  deps: ReconcilerDeps,
  run: RunOutline,
  why: ForcedEnd,
): Promise<void> {
  const { runId, requestId } = run;
  const ended = await deps.runs.endRun({ runId, ...why, exitCode: null });
  const fields = { runId, requestId, cause: ended.cause, detail: why.detail };
  deps.logger.warn(fields, 'run_ended_by_reconciler');
  failpoint('reconcile.ended');
  await deps.frameStream.notify(runId);
  await deps.frameStream.expireEnded(runId);
  failpoint('reconcile.notified');
  if (ended.run.webhook.state === 'pending') await resumeWebhook(deps, ended.run);
}
