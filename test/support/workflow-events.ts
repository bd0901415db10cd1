import { Client, type Connection, WorkflowNotFoundError } from '@temporalio/client';

/**
 * The number of events of each workflow; null while it is being started, and while an activity or
 * its retry is pending.
 */
export async function eventsOf(
  connection: Connection,
  workflowIds: string[],
): Promise<(number | null)[]> {
  const { workflow } = new Client({ connection });
  const described = await Promise.all(
    workflowIds.map((workflowId) => workflow.getHandle(workflowId).describe().catch(nullIfMissing)),
  );
  return described.map((found) => {
    if (found === null) return null;
    const { historyLength, raw } = found;
    return raw.pendingActivities?.length || raw.pendingWorkflowTask ? null : historyLength;
  });
}

function nullIfMissing(error: unknown): null {
  if (error instanceof WorkflowNotFoundError) return null;
  throw error;
}
