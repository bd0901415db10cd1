import type {
  Activities,
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../workflows/shared/activities.ts';
import { createIdleEvictor, type EvictDeps } from './evict-idle-session.ts';
import { createRunActivities, type RunDeps } from './run.ts';
import { createSandboxActivities, type SandboxSupervisor } from './sandbox.ts';
import { type SanitizeDeps, withSanitizedErrors } from './sanitize-errors.ts';
import { createSessionActivities, type SessionDeps } from './session.ts';

export type { RunDeps } from './run.ts';
export type { SandboxSupervisor } from './sandbox.ts';

export interface ActivityDeps extends RunDeps, SessionDeps, EvictDeps, SanitizeDeps {
  supervisor: SandboxSupervisor;
  admission: RunDeps['admission'] & EvictDeps['admission'];
  temporal: RunDeps['temporal'] & EvictDeps['temporal'];
}

/**
 * Activities for the shared queue and for this host's queue. Library error messages are removed.
 */
export function createActivities(deps: ActivityDeps): {
  run: RunActivities & SessionActivities;
  host: HostActivities;
} {
  const evictIdleSession = createIdleEvictor(deps);
  const run = createRunActivities(deps, evictIdleSession);
  const session = createSessionActivities(deps, evictIdleSession);
  const host = createSandboxActivities(deps.supervisor);
  const sanitize = <I extends { runId: string }, O>(
    name: keyof Activities,
    act: (input: I) => Promise<O>,
  ) => withSanitizedErrors(deps, name, act);
  return {
    run: {
      claimSlot: sanitize('claimSlot', run.claimSlot),
      recordCause: sanitize('recordCause', run.recordCause),
      endRun: sanitize('endRun', run.endRun),
      deliverWebhook: sanitize('deliverWebhook', run.deliverWebhook),
      dropWebhook: sanitize('dropWebhook', run.dropWebhook),
      claimSessionSlot: sanitize('claimSessionSlot', session.claimSessionSlot),
      failTurn: sanitize('failTurn', session.failTurn),
      getSessionIdleness: sanitize('getSessionIdleness', session.getSessionIdleness),
      triggerScheduledRun: sanitize('triggerScheduledRun', run.triggerScheduledRun),
    },
    host: {
      startSandbox: sanitize('startSandbox', host.startSandbox),
      followRun: sanitize('followRun', host.followRun),
      runTurn: sanitize('runTurn', host.runTurn),
      interruptTurn: sanitize('interruptTurn', host.interruptTurn),
      stopSandbox: sanitize('stopSandbox', host.stopSandbox),
      snapshotWorkspace: sanitize('snapshotWorkspace', host.snapshotWorkspace),
      removeSandbox: sanitize('removeSandbox', host.removeSandbox),
    },
  };
}
