import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptionsAction,
} from '@temporalio/client';
import type { Schedule } from '../../core/flows/schedule.ts';
import { scheduleLimits } from '../../core/flows/schedule-limits.ts';
import type { ScheduleTimes } from '../../core/flows/schedule-state.ts';
import { runQueue } from '../../core/temporal/task-queues.ts';
import type { ScheduledTriggerInput } from '../../workflows/shared/inputs.ts';

interface Scheduler {
  client: Client;
  instance: string;
}

const scheduleId = (flowId: string): string => `flow/${flowId}`;

export interface WantedSchedule extends Schedule {
  isPaused: boolean;
}

/**
 * Creates or replaces the flow's schedule. Safe to repeat. Returns how many starts Temporal has
 * skipped.
 */
export async function ensureSchedule(
  scheduler: Scheduler,
  flowId: string,
  { cron, timezone, isPaused }: WantedSchedule,
): Promise<number> {
  const { schedule: schedules } = scheduler.client;
  const spec = { cronExpressions: [cron], timezone };
  const action = actionOf(scheduler, flowId);
  const state = { paused: isPaused };
  try {
    await schedules.create({ scheduleId: scheduleId(flowId), spec, action, policies, state });
    return 0;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  let skippedStarts = 0;
  await schedules.getHandle(scheduleId(flowId)).update((before) => {
    skippedStarts = skippedBy(before);
    return { ...before, spec, action, policies, state: { ...before.state, ...state } };
  });
  return skippedStarts;
}

/** Null if Temporal does not have the schedule. */
export async function readScheduleTimes(
  { client }: Scheduler,
  flowId: string,
): Promise<ScheduleTimes | null> {
  try {
    const schedule = await client.schedule.getHandle(scheduleId(flowId)).describe();
    const { nextActionTimes: next, recentActions, runningActions } = schedule.info;
    const running = new Set(runningActions.map(({ workflow }) => workflow.workflowId));
    const waiting = recentActions
      .filter(({ action }) => running.has(action.workflow.workflowId))
      .map(({ scheduledAt }) => fullSecond(scheduledAt));
    return { next, waiting, skippedStarts: skippedBy(schedule) };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/** The attribute of the workflow has full seconds, also after a trigger by hand. */
const fullSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / 1_000) * 1_000);

/** Starts that were too late for Temporal, and starts during an earlier start. */
function skippedBy({ info }: ScheduleDescription): number {
  return info.numActionsMissedCatchupWindow + info.numActionsSkippedOverlap;
}

/** Safe to repeat. */
export async function removeSchedule({ client }: Scheduler, flowId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId(flowId)).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** A start is skipped while the previous one is retried. */
const policies = { overlap: 'SKIP', catchupWindow: scheduleLimits.catchUpMs } as const;

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
