// The last step of a run's or session's workflow, after all of its work: Temporal shows how the run
// ended. Nothing is retried because of it.

import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { closeStatusOf, type EndCause, type RunEnd } from '../../core/runs/end-cause.ts';
import { runFailureMessage } from '../../core/temporal/run-failure.ts';
import type { RunActivities } from './activities.ts';

interface Closing {
  runId: string;
  activities: Pick<RunActivities, 'cancelWorkflow'>;
}

/**
 * Returns if the run completed. Otherwise throws, so that the workflow is cancelled or failed. A
 * workflow that cannot be cancelled fails with the end cause, so that it does not look like an
 * error.
 */
export async function closeWorkflow(
  end: RunEnd,
  { runId, activities }: Closing,
): Promise<{ cause: EndCause }> {
  const { cause } = end;
  switch (closeStatusOf(cause)) {
    case 'completed':
      return { cause };
    case 'cancelled': {
      const { workflowId } = workflowInfo();
      const request = () => activities.cancelWorkflow({ runId, workflowId });
      if (await ensureCancelRequested(request)) throw new CancelledFailure(cause);
      throw runFailure(end);
    }
    case 'failed':
      throw runFailure(end);
  }
}

/**
 * Temporal closes a workflow as cancelled only if a cancellation was requested. If the request
 * fails, the workflow's history has the error, and the caller closes the workflow as failed.
 */
async function ensureCancelRequested(request: () => Promise<void>): Promise<boolean> {
  const scope = CancellationScope.current();
  if (!scope.consideredCancelled) await CancellationScope.nonCancellable(request).catch(() => {});
  return scope.consideredCancelled;
}

const runFailure = (end: RunEnd): ApplicationFailure =>
  ApplicationFailure.create({
    type: end.cause,
    message: runFailureMessage(end),
    nonRetryable: true,
    category: 'BENIGN', // not counted; worker/temporal/runtime.ts lowers its log level
  });

/** The recorded cause, with the details of the outcome if the outcome has that cause. */
export const recordedEnd = (outcome: RunEnd, cause: EndCause): RunEnd =>
  outcome.cause === cause ? outcome : { cause, detail: null, exitCode: null };
