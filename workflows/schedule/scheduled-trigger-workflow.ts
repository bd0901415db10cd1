import { defineSearchAttributeKey } from '@temporalio/common';
import { uuid4, workflowInfo } from '@temporalio/workflow';
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
  const { triggerScheduledRun, missScheduledRun } = runActivities(instance, runTimeouts);
  const start = { flowId, runId, scheduledAt: scheduledTime().toISOString() };
  try {
    return { runId, ...(await triggerScheduledRun(start)) };
  } catch (error) {
    await missScheduledRun(start);
    throw error;
  }
}

/** Temporal stores the time of the schedule in this attribute of the workflows that it starts. */
function scheduledTime(): Date {
  const { typedSearchAttributes, startTime } = workflowInfo();
  return typedSearchAttributes.get(scheduledStartTime) ?? startTime;
}

const scheduledStartTime = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');
