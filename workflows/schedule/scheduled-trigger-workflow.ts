import { uuid4 } from '@temporalio/workflow';
import type { ScheduledOutcome } from '../shared/activities.ts';
import { runActivities } from '../shared/activity-proxies.ts';
import type { ScheduledTriggerInput } from '../shared/inputs.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';

/** One tick of a flow's schedule. Every attempt uses the same run id, so at most one run starts. */
export async function scheduledTriggerWorkflow({
  flowId,
  instance,
}: ScheduledTriggerInput): Promise<{ runId: string; outcome: ScheduledOutcome }> {
  const runId = uuid4();
  const { triggerScheduledRun } = runActivities(instance, runTimeouts);
  return { runId, ...(await triggerScheduledRun({ flowId, runId })) };
}
