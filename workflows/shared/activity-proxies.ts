import { proxyActivities } from '@temporalio/workflow';
import type { Activities, HostActivities, RunActivities, SessionActivities } from './activities.ts';
import {
  hostActivityOptions,
  runActivityOptions,
  sessionActivityOptions,
} from './activity-options.ts';
import type { RunTimeouts } from './run-timeouts.ts';

/** The activities as functions, each bound to its own options. */
export function runActivities(
  instance: string,
  timeouts: RunTimeouts,
  firstWebhookAttempt?: number,
): RunActivities {
  const options = runActivityOptions(instance, timeouts, firstWebhookAttempt);
  return {
    claimSlot: proxyActivities<Activities>(options.claimSlot).claimSlot,
    recordCause: proxyActivities<Activities>(options.recordCause).recordCause,
    endRun: proxyActivities<Activities>(options.endRun).endRun,
    deliverWebhook: proxyActivities<Activities>(options.deliverWebhook).deliverWebhook,
    dropWebhook: proxyActivities<Activities>(options.dropWebhook).dropWebhook,
    triggerScheduledRun: proxyActivities<Activities>(options.triggerScheduledRun)
      .triggerScheduledRun,
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
