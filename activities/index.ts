import type {
  Activities,
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../workflows/shared/activities.ts';
import { createWayMaker, type WayDeps } from './evict-idle-session.ts';
import { createRunActivities, type RunDeps } from './run.ts';
import { createSandboxActivities, type SandboxKeeper } from './sandbox.ts';
import { type GuardDeps, guarded } from './sanitize-errors.ts';
import { createSessionActivities, type SessionDeps } from './session.ts';

export type { RunDeps } from './run.ts';
export type { SandboxKeeper } from './sandbox.ts';

export interface ActivityDeps extends RunDeps, SessionDeps, WayDeps, GuardDeps {
  supervisor: SandboxKeeper;
  admission: RunDeps['admission'] & WayDeps['admission'];
  temporal: RunDeps['temporal'] & WayDeps['temporal'];
}

/** What every worker offers, and what only this host can do. Nothing that a library says gets out. */
export function createActivities(deps: ActivityDeps): {
  run: RunActivities & SessionActivities;
  host: HostActivities;
} {
  const makeWay = createWayMaker(deps);
  const run = createRunActivities(deps, makeWay);
  const session = createSessionActivities(deps, makeWay);
  const host = createSandboxActivities(deps.supervisor);
  const guard = <I extends { runId: string }, O>(
    name: keyof Activities,
    act: (input: I) => Promise<O>,
  ) => guarded(deps, name, act);
  return {
    run: {
      claimPlace: guard('claimPlace', run.claimPlace),
      recordCause: guard('recordCause', run.recordCause),
      endRun: guard('endRun', run.endRun),
      deliverWebhook: guard('deliverWebhook', run.deliverWebhook),
      dropWebhook: guard('dropWebhook', run.dropWebhook),
      claimSessionPlace: guard('claimSessionPlace', session.claimSessionPlace),
      giveUpTurn: guard('giveUpTurn', session.giveUpTurn),
      askSessionIdleness: guard('askSessionIdleness', session.askSessionIdleness),
      triggerScheduled: guard('triggerScheduled', run.triggerScheduled),
    },
    host: {
      startSandbox: guard('startSandbox', host.startSandbox),
      followRun: guard('followRun', host.followRun),
      runTurn: guard('runTurn', host.runTurn),
      interruptTurn: guard('interruptTurn', host.interruptTurn),
      stopSandbox: guard('stopSandbox', host.stopSandbox),
      collectWorkspace: guard('collectWorkspace', host.collectWorkspace),
      removeSandbox: guard('removeSandbox', host.removeSandbox),
    },
  };
}
