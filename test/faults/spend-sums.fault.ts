// The sums of the ledger over many turns. A test of npm test does the same with fewer turns.

import { it } from 'vitest';
import { expectSumsOfTurns } from '../integration/systems/postgres/seeded-turns.ts';
import { setupScenario } from '../integration/systems/postgres/setup-scenario.ts';

const { database, scenario } = setupScenario();

it('are equal in runs, ledger and report over 10 000 turns', { timeout: 600_000 }, async () => {
  await expectSumsOfTurns({ pool: database.pool, scenario }, { count: 10_000, seed: 17 });
});
