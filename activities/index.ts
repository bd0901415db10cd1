import type {
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../workflows/shared/activities.ts';
import { type AssignerDeps, createSlotAssigner, type SlotAssigner } from './assign-slots.ts';
import { createRunActivities, type RunDeps } from './run.ts';
import { createSandboxActivities, type HostDeps } from './sandbox.ts';
import { createSessionActivities, type SessionDeps } from './session.ts';

export interface ActivityDeps extends RunDeps, SessionDeps, AssignerDeps, HostDeps {
  admission: RunDeps['admission'] & AssignerDeps['admission'];
  temporal: RunDeps['temporal'] & AssignerDeps['temporal'];
}

/** Activities for the shared queue and for this host's queue. */
export function createActivities(deps: ActivityDeps): {
  run: RunActivities & SessionActivities;
  host: HostActivities;
  slots: SlotAssigner;
} {
  const slots = createSlotAssigner(deps);
  return {
    run: {
      ...createRunActivities(deps, slots),
      ...createSessionActivities(deps, slots),
    },
    host: createSandboxActivities(deps, slots),
    slots,
  };
}
