// The setup of most store tests: opened before the tests of a file and closed after them, in one
// line.

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';

/** A database with a project and a flow. */
export function setupScenario() {
  // Empty until `beforeAll`, so that they can be constants; no test runs before that.
  const database = useDatabase();
  const scenario = {} as Scenario;
  beforeAll(async () => {
    Object.assign(scenario, await createScenario(database.pool, testSealer));
  });
  return { database, scenario };
}

/** The same, with a new project for every test. */
export function setupFreshScenario() {
  // Empty until `beforeEach`, as above.
  const database = useDatabase();
  const scenario = {} as Scenario;
  beforeEach(async () => {
    Object.assign(scenario, await createScenario(database.pool, testSealer));
  });
  return { database, scenario };
}

/** Connections of other processes to it. */
export function useSecondPool(database: TestDatabase): () => Pool {
  let second: Pool;
  beforeAll(() => {
    second = createPool(database.url, { applicationName: 'test-second', max: 20 });
  });
  afterAll(() => second.end());
  return () => second;
}
