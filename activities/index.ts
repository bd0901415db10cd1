import type {
  Activities,
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../workflows/activities.ts';
import { type GuardDeps, guarded } from './guarded.ts';
import { createWayMaker, type WayDeps } from './make-way.ts';
import { createRunActivities, type RunDeps } from './run-activities.ts';
import { createSandboxActivities, type SandboxKeeper } from './sandbox-activities.ts';
import { createSessionActivities, type SessionDeps } from './session-activities.ts';

export type { RunDeps } from './run-activities.ts';
export type { SandboxKeeper } from './sandbox-activities.ts';

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
