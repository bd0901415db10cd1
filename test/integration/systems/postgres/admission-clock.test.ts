// Each test sets the clock of this file's database. Its connections use the time zone furthest from
// UTC, so that a month computed in local time shows.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { setDatabaseClock } from './clock.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`alter database ${name} set timezone to 'Pacific/Kiritimati'`);
  pool = createPool(database.url, { applicationName: 'test', max: 20 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function admitAt(scenario: Scenario, at: string, idempotencyKey: string | null = null) {
  await setDatabaseClock(pool, at);
  return createAdmission(pool, testSealer).admitRun(scenario.request({ idempotencyKey }));
}

test('the connections of this test are not in UTC', async () => {
  expect((await pool.query('show timezone')).rows).toEqual([{ TimeZone: 'Pacific/Kiritimati' }]);
});

test('an idempotency key is valid for 24 hours to the millisecond', async () => {
  const scenario = await createScenario(pool, testSealer);
  const first = await admitAt(scenario, '2027-03-01T10:00:00.000Z', 'k');
  expect(first).toMatchObject({ outcome: 'admitted' });
  const last = await admitAt(scenario, '2027-03-02T09:59:59.999Z', 'k');
  expect(last).toEqual({ ...first, outcome: 'replay' });
  const beyond = await admitAt(scenario, '2027-03-02T10:00:00.000Z', 'k');
  expect(beyond).toMatchObject({
    outcome: 'admitted',
    run: { workflowId: `run/${scenario.projectId}/k/2027-03-02T10:00:00.000Z` },
  });
  const replay = await admitAt(scenario, '2027-03-03T09:59:59.999Z', 'k');
  expect(replay).toEqual({ ...beyond, outcome: 'replay' });
});

test.each([
  ['2027-01-31T23:59:59.999Z', '2027-02-01T00:00:00.000Z'],
  ['2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
  ['2027-12-31T23:59:59.999Z', '2028-01-01T00:00:00.000Z'],
])('the quota is full at %s and empty at %s', async (lastMoment, firstMoment) => {
  const scenario = await createScenario(pool, testSealer, { project: { monthlyRunQuota: 2 } });
  expect(await admitAt(scenario, `${lastMoment.slice(0, 7)}-01T00:00:00.000Z`)).toMatchObject({
    outcome: 'admitted',
  });
  expect(await admitAt(scenario, lastMoment)).toMatchObject({ outcome: 'admitted' });
  expect(await admitAt(scenario, lastMoment)).toMatchObject({
    reason: 'MONTHLY_QUOTA',
    current: 2,
  });
  expect(await admitAt(scenario, firstMoment)).toMatchObject({ outcome: 'admitted' });
  expect(await admitAt(scenario, firstMoment)).toMatchObject({ outcome: 'admitted' });
  expect(await admitAt(scenario, firstMoment)).toMatchObject({
    reason: 'MONTHLY_QUOTA',
    current: 2,
  });
});
