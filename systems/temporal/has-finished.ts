import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isRunFailure } from '../../core/temporal/run-failure.ts';

/** Whether the workflow closed at the end of its run, and not by an error or an operator. */
export async function hasFinished(
  workflow: Pick<WorkflowHandle, 'describe' | 'result'>,
): Promise<boolean> {
  const { status } = await workflow.describe();
  if (status.name === 'COMPLETED' || status.name === 'CANCELLED') return true;
  return status.name === 'FAILED' && (await failedWithRun(workflow));
}

async function failedWithRun(workflow: Pick<WorkflowHandle, 'result'>): Promise<boolean> {
  try {
    await workflow.result();
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return error.cause instanceof ApplicationFailure && isRunFailure(error.cause.message);
  }
}
