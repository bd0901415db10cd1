import type {
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../workflows/shared/activities.ts';
import { createIdleEvictor, type EvictDeps } from './evict-idle-session.ts';
import { createRunActivities, type RunDeps } from './run.ts';
import { createSandboxActivities, type HostDeps } from './sandbox.ts';
import { createSessionActivities, type SessionDeps } from './session.ts';

export interface ActivityDeps extends RunDeps, SessionDeps, EvictDeps, HostDeps {
  admission: RunDeps['admission'] & EvictDeps['admission'];
  temporal: RunDeps['temporal'] & EvictDeps['temporal'];
}

/** Activities for the shared queue and for this host's queue. */
export function createActivities(deps: ActivityDeps): {
  run: RunActivities & SessionActivities;
  host: HostActivities;
} {
  const evictIdleSession = createIdleEvictor(deps);
  return {
    run: {
      ...createRunActivities(deps, evictIdleSession),
      ...createSessionActivities(deps, evictIdleSession),
    },
    host: createSandboxActivities(deps),
  };
}
