import { Client, type Connection } from '@temporalio/client';

/** The number of events of each workflow; null while an activity or its retry is pending. */
export async function eventsOf(
  connection: Connection,
  workflowIds: string[],
): Promise<(number | null)[]> {
  const { workflow } = new Client({ connection });
  const described = await Promise.all(
    workflowIds.map((workflowId) => workflow.getHandle(workflowId).describe()),
  );
  return described.map(({ historyLength, raw }) =>
    raw.pendingActivities?.length || raw.pendingWorkflowTask ? null : historyLength,
  );
}
