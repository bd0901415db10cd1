import { uuid4 } from '@temporalio/workflow';
import type { ScheduledOutcome } from '../shared/activities.ts';
import { runActivities } from '../shared/activity-proxies.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';
import type { ScheduledTriggerInput } from '../shared/signals.ts';

/** One moment of a flow's schedule: a run of its own, whose id stays through every attempt. */
export async function scheduledTriggerWorkflow({
  flowId,
  instance,
}: ScheduledTriggerInput): Promise<{ runId: string; outcome: ScheduledOutcome }> {
  const runId = uuid4();
  return {
    runId,
    ...(await runActivities(instance, runTimeouts).triggerScheduledRun({ flowId, runId })),
  };
}
