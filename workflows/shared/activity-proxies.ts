import { proxyActivities } from '@temporalio/workflow';
import type { Activities, HostActivities, RunActivities, SessionActivities } from './activities.ts';
import { hostActivityOptions, runActivityOptions, sessionActivityOptions } from './activities.ts';
import type { RunTimeouts } from './run-timeouts.ts';

/** The activities as plain functions, each with the options that its plan gives it. */
export function runActivities(
  instance: string,
  times: RunTimeouts,
  firstWebhookAttempt?: number,
): RunActivities {
  const plan = runActivityOptions(instance, times, firstWebhookAttempt);
  return {
    claimSlot: proxyActivities<Activities>(plan.claimSlot).claimSlot,
    recordCause: proxyActivities<Activities>(plan.recordCause).recordCause,
    endRun: proxyActivities<Activities>(plan.endRun).endRun,
    deliverWebhook: proxyActivities<Activities>(plan.deliverWebhook).deliverWebhook,
    dropWebhook: proxyActivities<Activities>(plan.dropWebhook).dropWebhook,
    triggerScheduledRun: proxyActivities<Activities>(plan.triggerScheduledRun).triggerScheduledRun,
  };
}

export function sessionActivities(instance: string, times: RunTimeouts): SessionActivities {
  const plan = sessionActivityOptions(instance, times);
  return {
    claimSessionSlot: proxyActivities<Activities>(plan.claimSessionSlot).claimSessionSlot,
    failTurn: proxyActivities<Activities>(plan.failTurn).failTurn,
    getSessionIdleness: proxyActivities<Activities>(plan.getSessionIdleness).getSessionIdleness,
  };
}

export function hostActivities(
  instance: string,
  hostId: string,
  times: RunTimeouts,
): HostActivities {
  const plan = hostActivityOptions(instance, hostId, times);
  return {
    startSandbox: proxyActivities<Activities>(plan.startSandbox).startSandbox,
    followRun: proxyActivities<Activities>(plan.followRun).followRun,
    runTurn: proxyActivities<Activities>(plan.runTurn).runTurn,
    interruptTurn: proxyActivities<Activities>(plan.interruptTurn).interruptTurn,
    stopSandbox: proxyActivities<Activities>(plan.stopSandbox).stopSandbox,
    snapshotWorkspace: proxyActivities<Activities>(plan.snapshotWorkspace).snapshotWorkspace,
    removeSandbox: proxyActivities<Activities>(plan.removeSandbox).removeSandbox,
  };
}
