import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';

const endCause = defineSearchAttributeKey('EndCause', 'KEYWORD');

type Handle = Pick<WorkflowHandle, 'result' | 'describe'>;

/** Waits until the workflow has closed. Returns the error with which it failed, if it did. */
export async function failureOf(handle: Handle): Promise<Error | undefined> {
  try {
    await handle.result();
  } catch (error) {
    if (error instanceof WorkflowFailedError) return error.cause;
    throw error;
  }
  return undefined;
}

/** How a workflow has closed, and the end cause of its run or session. */
export async function endOf(handle: Handle): Promise<{ status: string; cause?: string }> {
  await failureOf(handle);
  const { status, typedSearchAttributes } = await handle.describe();
  const cause = typedSearchAttributes.get(endCause);
  return { status: status.name, ...(cause === undefined ? {} : { cause }) };
}
