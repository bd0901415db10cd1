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

/** What every worker offers, and what only this host can do. Nothing that a library says gets out. */
export function createActivities(deps: ActivityDeps): {
  run: RunActivities & SessionActivities;
  host: HostActivities;
} {
  const makeWay = createIdleEvictor(deps);
  const run = createRunActivities(deps, makeWay);
  const session = createSessionActivities(deps, makeWay);
  const host = createSandboxActivities(deps.supervisor);
  const guard = <I extends { runId: string }, O>(
    name: keyof Activities,
    act: (input: I) => Promise<O>,
  ) => withSanitizedErrors(deps, name, act);
  return {
    run: {
      claimSlot: guard('claimSlot', run.claimSlot),
      recordCause: guard('recordCause', run.recordCause),
      endRun: guard('endRun', run.endRun),
      deliverWebhook: guard('deliverWebhook', run.deliverWebhook),
      dropWebhook: guard('dropWebhook', run.dropWebhook),
      claimSessionSlot: guard('claimSessionSlot', session.claimSessionSlot),
      failTurn: guard('failTurn', session.failTurn),
      getSessionIdleness: guard('getSessionIdleness', session.getSessionIdleness),
      triggerScheduledRun: guard('triggerScheduledRun', run.triggerScheduledRun),
    },
    host: {
      startSandbox: guard('startSandbox', host.startSandbox),
      followRun: guard('followRun', host.followRun),
      runTurn: guard('runTurn', host.runTurn),
      interruptTurn: guard('interruptTurn', host.interruptTurn),
      stopSandbox: guard('stopSandbox', host.stopSandbox),
      snapshotWorkspace: guard('snapshotWorkspace', host.snapshotWorkspace),
      removeSandbox: guard('removeSandbox', host.removeSandbox),
    },
  };
}
