import { proxyActivities } from '@temporalio/workflow';
import type { Activities, HostActivities, RunActivities, SessionActivities } from './activities.ts';
import { hostPlan, runPlan, sessionPlan } from './activities.ts';
import type { RunTimes } from './run-timeouts.ts';

/** The activities as plain functions, each with the options that its plan gives it. */
export function runActivities(
  instance: string,
  times: RunTimes,
  firstWebhookAttempt?: number,
): RunActivities {
  const plan = runPlan(instance, times, firstWebhookAttempt);
  return {
    claimPlace: proxyActivities<Activities>(plan.claimPlace).claimPlace,
    recordCause: proxyActivities<Activities>(plan.recordCause).recordCause,
    endRun: proxyActivities<Activities>(plan.endRun).endRun,
    deliverWebhook: proxyActivities<Activities>(plan.deliverWebhook).deliverWebhook,
    dropWebhook: proxyActivities<Activities>(plan.dropWebhook).dropWebhook,
    triggerScheduled: proxyActivities<Activities>(plan.triggerScheduled).triggerScheduled,
  };
}

export function sessionActivities(instance: string, times: RunTimes): SessionActivities {
  const plan = sessionPlan(instance, times);
  return {
    claimSessionPlace: proxyActivities<Activities>(plan.claimSessionPlace).claimSessionPlace,
    giveUpTurn: proxyActivities<Activities>(plan.giveUpTurn).giveUpTurn,
    askSessionIdleness: proxyActivities<Activities>(plan.askSessionIdleness).askSessionIdleness,
  };
}

export function hostActivities(instance: string, hostId: string, times: RunTimes): HostActivities {
  const plan = hostPlan(instance, hostId, times);
  return {
    startSandbox: proxyActivities<Activities>(plan.startSandbox).startSandbox,
    followRun: proxyActivities<Activities>(plan.followRun).followRun,
    runTurn: proxyActivities<Activities>(plan.runTurn).runTurn,
    interruptTurn: proxyActivities<Activities>(plan.interruptTurn).interruptTurn,
    stopSandbox: proxyActivities<Activities>(plan.stopSandbox).stopSandbox,
    collectWorkspace: proxyActivities<Activities>(plan.collectWorkspace).collectWorkspace,
    removeSandbox: proxyActivities<Activities>(plan.removeSandbox).removeSandbox,
  };
}
