import { beforeEach } from 'vitest';
import { setupFreshScenario } from '../../systems/postgres/setup-scenario.ts';
import { createReconcilerFixture } from './reconciler-fixture.ts';

/** A reconciler, and a database without runs and hosts, for every test of a file. */
export function setupReconciler() {
  const { database, scenario } = setupFreshScenario();
  // Empty until `beforeEach`, so that it can be a constant. No test runs before that.
  const fixture = {} as ReturnType<typeof createReconcilerFixture>;
  beforeEach(async () => {
    await database.pool.query(
      'truncate runs, hosts, restores, temporal_identity, reconciler_jobs cascade',
    );
    Object.assign(fixture, createReconcilerFixture(database));
  });
  return { database, scenario, fixture };
}
