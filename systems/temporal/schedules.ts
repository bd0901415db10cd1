import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptionsAction,
} from '@temporalio/client';
import type { Schedule } from '../../core/flows/schedule.ts';
import { runQueue } from '../../core/temporal/task-queues.ts';
import type { ScheduledTriggerInput } from '../../workflows/shared/inputs.ts';

interface Scheduler {
  client: Client;
  instance: string;
}

const scheduleId = (flowId: string): string => `flow/${flowId}`;

/** Creates or replaces the flow's schedule. Safe to repeat. */
export async function ensureSchedule(
  scheduler: Scheduler,
  flowId: string,
  { cron, timezone }: Schedule,
): Promise<void> {
  const { schedule: schedules } = scheduler.client;
  const spec = { cronExpressions: [cron], timezone };
  const action = actionOf(scheduler, flowId);
  try {
    await schedules.create({ scheduleId: scheduleId(flowId), spec, action, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await schedules
      .getHandle(scheduleId(flowId))
      .update((before) => ({ ...before, spec, action, policies }));
  }
}

/** Safe to repeat. */
export async function removeSchedule({ client }: Scheduler, flowId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId(flowId)).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/**
 * A tick is skipped while the previous one is retried. Missed ticks are caught up for 10 minutes.
 */
const policies = { overlap: 'SKIP', catchupWindow: '10 minutes' } as const;

function actionOf({ instance }: Scheduler, flowId: string) {
  const input: ScheduledTriggerInput = { flowId, instance };
  return {
    type: 'startWorkflow',
    workflowType: 'scheduledTriggerWorkflow',
    workflowId: `schedule/${flowId}`,
    taskQueue: runQueue(instance),
    args: [input],
    staticSummary: `scheduled run of flow ${flowId}`,
  } satisfies ScheduleOptionsAction;
}
