// Two pools simulate two API processes. Each race is run at a limit and checked by the stored rows.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Admission,
  createAdmission,
} from '../../../../systems/postgres/admission/admission.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';

let database: TestDatabase;
let pools: Pool[];
beforeAll(async () => {
  database = await createTestDatabase();
  pools = [0, 1].map((n) => createPool(database.url, { applicationName: `api-${n}`, max: 20 }));
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

function admitAtOnce(scenario: Scenario, times: number, key: (n: number) => string | null) {
  const stores = pools.map((pool) => createAdmission(pool, testSealer));
  return Promise.all(
    Array.from({ length: times }, (_, n) => {
      const store = stores[n % stores.length];
      if (!store) throw new Error('no pool');
      return store.admitRun(scenario.request({ idempotencyKey: key(n), labels: { n: `${n}` } }));
    }),
  );
}

const outcomes = (admissions: Admission[], outcome: Admission['outcome']) =>
  admissions.filter((admission) => admission.outcome === outcome);

async function count(table: string, projectId: string): Promise<number> {
  const text = `select count(*) as n from ${table} where project_id = $1`;
  return (await database.pool.query(text, [projectId])).rows[0].n;
}

test('admits exactly the limit of a hundred concurrent runs, and rejects the others with exact numbers', async () => {
  const scenario = await createScenario(database.pool, testSealer, {
    project: { maxConcurrentRuns: 10 },
  });
  const admissions = await admitAtOnce(scenario, 100, () => null);
  expect(outcomes(admissions, 'admitted')).toHaveLength(10);
  const refusal = { outcome: 'rejected', reason: 'CONCURRENT_LIMIT', limit: 10, current: 10 };
  expect(outcomes(admissions, 'rejected')).toEqual(Array.from({ length: 90 }, () => refusal));
  expect(await count('runs', scenario.projectId)).toBe(10);
});

test('the limit holds at every moment while runs start and end', async () => {
  const scenario = await createScenario(database.pool, testSealer, {
    project: { maxConcurrentRuns: 3 },
  });
  const active = `select count(*) as n from runs where project_id = $1 and ended_at is null`;
  const seen: number[] = [];
  const churn = Promise.all(
    pools.flatMap((pool) =>
      Array.from({ length: 8 }, async () => {
        const runs = createRunStore(pool, testSealer);
        for (let i = 0; i < 12; i += 1) {
          const admission = await createAdmission(pool, testSealer).admitRun(scenario.request());
          if (admission.outcome !== 'admitted') continue;
          const { runId } = admission.run;
          await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
        }
      }),
    ),
  );
  const over = new AbortController();
  const watch = async () => {
    while (!over.signal.aborted)
      seen.push((await database.pool.query(active, [scenario.projectId])).rows[0].n);
  };
  await Promise.all([churn.finally(() => over.abort()), watch()]);
  expect(Math.max(...seen)).toBeLessThanOrEqual(3);
  expect(Math.max(...seen)).toBeGreaterThan(0);
});

test('admits exactly the quota of a hundred concurrent runs', async () => {
  const scenario = await createScenario(database.pool, testSealer, {
    project: { monthlyRunQuota: 7 },
  });
  const admissions = await admitAtOnce(scenario, 100, () => null);
  expect(outcomes(admissions, 'admitted')).toHaveLength(7);
  const refusal = { outcome: 'rejected', reason: 'MONTHLY_QUOTA', limit: 7, current: 7 };
  expect(outcomes(admissions, 'rejected')).toEqual(Array.from({ length: 93 }, () => refusal));
});

test('a hundred calls with one key create one run, and all return it', async () => {
  const scenario = await createScenario(database.pool, testSealer, {
    project: { maxConcurrentRuns: 1 },
  });
  const admissions = await admitAtOnce(scenario, 100, () => 'one-key');
  const admitted = outcomes(admissions, 'admitted');
  expect(admitted).toHaveLength(1);
  const runs = admissions.map((admission) => 'run' in admission && admission.run);
  expect(runs).toEqual(Array.from({ length: 100 }, () => runs[0]));
  expect(await count('runs', scenario.projectId)).toBe(1);
});

test('ten calls with each of ten keys create ten runs', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  const admissions = await admitAtOnce(scenario, 100, (n) => `key-${n % 10}`);
  expect(outcomes(admissions, 'admitted')).toHaveLength(10);
  expect(outcomes(admissions, 'replay')).toHaveLength(90);
  expect(await count('runs', scenario.projectId)).toBe(10);
});

test('projects do not block each other: forty runs of each of five are all admitted', async () => {
  const scenarios = await Promise.all(
    Array.from({ length: 5 }, () => createScenario(database.pool, testSealer)),
  );
  const all = await Promise.all(scenarios.map((scenario) => admitAtOnce(scenario, 40, () => null)));
  expect(outcomes(all.flat(), 'admitted')).toHaveLength(200);
});
