// The activities as functions, with every timeout and retry policy of the workflows.

import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import { limits } from '../../core/limits.ts';
import {
  followQueue,
  hostQueue,
  runQueue,
  webhookBacklogQueue,
  webhookQueue,
} from '../../core/temporal/task-queues.ts';
import type { Activities, HostActivities, RunActivities, SessionActivities } from './activities.ts';
import type { RunTimeouts } from './run-timeouts.ts';

export function runActivities(
  instance: string,
  timeouts: RunTimeouts,
  { inBacklog } = { inBacklog: false },
): RunActivities {
  const options = runActivityOptions(instance, timeouts, inBacklog);
  return {
    claimSlot: proxyActivities<Activities>(options.claimSlot).claimSlot,
    recordCause: proxyActivities<Activities>(options.recordCause).recordCause,
    endRun: proxyActivities<Activities>(options.endRun).endRun,
    deliverWebhook: proxyActivities<Activities>(options.deliverWebhook).deliverWebhook,
    dropWebhook: proxyActivities<Activities>(options.dropWebhook).dropWebhook,
    deliverEvent: proxyActivities<Activities>(options.deliverEvent).deliverEvent,
    dropEvent: proxyActivities<Activities>(options.dropEvent).dropEvent,
    triggerScheduledRun: proxyActivities<Activities>(options.triggerScheduledRun)
      .triggerScheduledRun,
    missScheduledRun: proxyActivities<Activities>(options.missScheduledRun).missScheduledRun,
    cancelWorkflow: proxyActivities<Activities>(options.cancelWorkflow).cancelWorkflow,
  };
}

export function sessionActivities(instance: string, timeouts: RunTimeouts): SessionActivities {
  const options = sessionActivityOptions(instance, timeouts);
  return {
    claimSessionSlot: proxyActivities<Activities>(options.claimSessionSlot).claimSessionSlot,
    failTurn: proxyActivities<Activities>(options.failTurn).failTurn,
    getSessionIdleness: proxyActivities<Activities>(options.getSessionIdleness).getSessionIdleness,
  };
}

export function hostActivities(
  instance: string,
  hostId: string,
  timeouts: RunTimeouts,
): HostActivities {
  const options = hostActivityOptions(instance, hostId, timeouts);
  return {
    startSandbox: proxyActivities<Activities>(options.startSandbox).startSandbox,
    followRun: proxyActivities<Activities>(options.followRun).followRun,
    runTurn: proxyActivities<Activities>(options.runTurn).runTurn,
    interruptTurn: proxyActivities<Activities>(options.interruptTurn).interruptTurn,
    stopSandbox: proxyActivities<Activities>(options.stopSandbox).stopSandbox,
    snapshotWorkspace: proxyActivities<Activities>(options.snapshotWorkspace).snapshotWorkspace,
    removeSandbox: proxyActivities<Activities>(options.removeSandbox).removeSandbox,
  };
}

type OptionsFor<A> = { [K in keyof A]: ActivityOptions };

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

const backoff = {
  initialInterval: 1 * second,
  backoffCoefficient: 2,
  maximumInterval: 10 * second,
};

function runActivityOptions(
  instance: string,
  timeouts: RunTimeouts,
  webhookInBacklog = false,
): OptionsFor<RunActivities> {
  const shortActivity = {
    taskQueue: runQueue(instance),
    startToCloseTimeout: 30 * second,
    scheduleToCloseTimeout: 1 * day,
    retry: backoff,
  };
  const delivery = {
    startToCloseTimeout: limits.webhook.attemptMaxMs,
    scheduleToCloseTimeout: 1 * day,
    // For executions that made no attempt. A failed attempt states the delay of the next one.
    retry: backoff,
  };
  return {
    claimSlot: {
      ...shortActivity,
      summary: 'claim a slot',
      scheduleToCloseTimeout: timeouts.noCapacityMs,
      cancellationType: 'TRY_CANCEL',
    },
    recordCause: { ...shortActivity, summary: 'record why the run ends' },
    endRun: { ...shortActivity, summary: 'end the run' },
    deliverWebhook: {
      taskQueue: (webhookInBacklog ? webhookBacklogQueue : webhookQueue)(instance),
      summary: 'deliver the webhook',
      ...delivery,
    },
    dropWebhook: { ...shortActivity, summary: 'abandon the webhook' },
    deliverEvent: {
      taskQueue: webhookBacklogQueue(instance),
      summary: 'deliver the event',
      ...delivery,
    },
    dropEvent: { ...shortActivity, summary: 'abandon the event' },
    triggerScheduledRun: {
      ...shortActivity,
      summary: 'start a scheduled run',
      scheduleToCloseTimeout: 10 * minute,
    },
    missScheduledRun: { ...shortActivity, summary: 'report the missed start' },
    cancelWorkflow: {
      ...shortActivity,
      summary: 'close the workflow as cancelled',
      scheduleToCloseTimeout: 1 * minute,
    },
  };
}

function sessionActivityOptions(
  instance: string,
  timeouts: RunTimeouts,
): OptionsFor<SessionActivities> {
  const { claimSlot, endRun } = runActivityOptions(instance, timeouts);
  return {
    claimSessionSlot: { ...claimSlot, summary: 'claim a slot for the next sandbox' },
    failTurn: { ...endRun, summary: 'fail the message that got no slot' },
    getSessionIdleness: { ...endRun, summary: 'get how long the session is idle' },
  };
}

/**
 * The host counts as lost if none of its workers starts a task within `hostScheduleToStartMs`. The
 * heartbeat timeout lets Temporal retry an attempt within seconds after its worker died.
 */
function hostActivityOptions(
  instance: string,
  hostId: string,
  timeouts: RunTimeouts,
): OptionsFor<HostActivities> {
  const hostActivity = {
    taskQueue: hostQueue(instance, hostId),
    scheduleToStartTimeout: timeouts.hostScheduleToStartMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: backoff,
    cancellationType: 'TRY_CANCEL',
  } as const;
  const longActivity = {
    ...hostActivity,
    taskQueue: followQueue(instance, hostId),
    startToCloseTimeout: timeouts.runMs + 30 * minute,
    scheduleToCloseTimeout: timeouts.runMs + 60 * minute,
  };
  return {
    startSandbox: {
      ...hostActivity,
      summary: `start the sandbox on ${hostId}`,
      startToCloseTimeout: 2 * minute,
      scheduleToCloseTimeout: timeouts.startMs,
    },
    followRun: { ...longActivity, summary: `follow the agent on ${hostId}` },
    runTurn: {
      ...longActivity,
      summary: `run a turn on ${hostId}`,
      retry: { ...backoff, initialInterval: second / 10 },
    },
    interruptTurn: {
      ...hostActivity,
      summary: `interrupt the turn on ${hostId}`,
      startToCloseTimeout: 30 * second,
      scheduleToCloseTimeout: 2 * minute,
    },
    stopSandbox: {
      ...hostActivity,
      summary: `stop the sandbox on ${hostId}`,
      startToCloseTimeout: 3 * minute,
      scheduleToCloseTimeout: 10 * minute,
    },
    snapshotWorkspace: {
      ...hostActivity,
      summary: `snapshot the workspace on ${hostId}`,
      startToCloseTimeout: timeouts.snapshotMs,
      scheduleToCloseTimeout: timeouts.snapshotMs,
    },
    removeSandbox: {
      ...hostActivity,
      summary: `remove the sandbox from ${hostId}`,
      startToCloseTimeout: 2 * minute,
      scheduleToCloseTimeout: 10 * minute,
    },
  };
}
