import { describe, expect, test } from 'vitest';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { admissionStores } from './admission-stores.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const stores = () => admissionStores(database.pool);

describe('the concurrent cap', () => {
  test('admits up to the limit, and rejects the next run with both numbers without storing it', async () => {
    const capped = await createScenario(database.pool, testSealer, {
      project: { maxConcurrentRuns: 2 },
    });
    // Its webhook is still pending when its slot is free again.
    const first = await capped.run({ callbackUrl: 'https://hooks.example' });
    await capped.run();
    const before = await stores().writtenFor(capped.projectId);
    const refused = await stores().admission.admitRun(capped.request());
    expect(refused).toEqual({
      outcome: 'rejected',
      reason: 'CONCURRENT_LIMIT',
      limit: 2,
      current: 2,
    });
    expect(await stores().writtenFor(capped.projectId)).toEqual(before);
    await stores().end(first.runId);
    expect(await stores().admission.admitRun(capped.request())).toMatchObject({
      outcome: 'admitted',
    });
  });

  test('counts a run until it has ended, also if it was deleted, and with any trigger', async () => {
    const capped = await createScenario(database.pool, testSealer, {
      project: { maxConcurrentRuns: 1 },
    });
    const { runId } = await capped.run({ triggerType: 'schedule' });
    await stores().runs.markDeleted(runId);
    expect(await stores().admission.admitRun(capped.request())).toMatchObject({ current: 1 });
  });

  test('of zero rejects every run', async () => {
    const closed = await createScenario(database.pool, testSealer, {
      project: { maxConcurrentRuns: 0 },
    });
    const refused = await stores().admission.admitRun(closed.request());
    expect(refused).toEqual({
      outcome: 'rejected',
      reason: 'CONCURRENT_LIMIT',
      limit: 0,
      current: 0,
    });
  });

  test('is separate for each project', async () => {
    const capped = await createScenario(database.pool, testSealer, {
      project: { maxConcurrentRuns: 1 },
    });
    await capped.run();
    expect(await stores().admission.admitRun(scenario.request())).toMatchObject({
      outcome: 'admitted',
    });
  });
});

describe('the monthly quota', () => {
  test('admits up to the limit and rejects the next run with both numbers', async () => {
    const limited = await createScenario(database.pool, testSealer, {
      project: { monthlyRunQuota: 2 },
    });
    await limited.run();
    await limited.run();
    const before = await stores().writtenFor(limited.projectId);
    const refused = await stores().admission.admitRun(limited.request());
    expect(refused).toEqual({ outcome: 'rejected', reason: 'MONTHLY_QUOTA', limit: 2, current: 2 });
    expect(await stores().writtenFor(limited.projectId)).toEqual(before);
  });

  test('counts ended and deleted runs, and only those of the API', async () => {
    const limited = await createScenario(database.pool, testSealer, {
      project: { monthlyRunQuota: 1 },
    });
    const { runId } = await limited.run();
    await stores().runs.markDeleted(runId);
    await stores().end(runId);
    expect(await stores().admission.admitRun(limited.request())).toMatchObject({
      reason: 'MONTHLY_QUOTA',
    });
    for (const triggerType of ['dashboard', 'schedule'] as const) {
      const admission = await stores().admission.admitRun(limited.request({ triggerType }));
      expect(admission).toMatchObject({ outcome: 'admitted' });
    }
  });

  test('is checked after the concurrency limit', async () => {
    const project = { maxConcurrentRuns: 1, monthlyRunQuota: 1 };
    const both = await createScenario(database.pool, testSealer, { project });
    const { runId } = await both.run();
    expect(await stores().admission.admitRun(both.request())).toMatchObject({
      reason: 'CONCURRENT_LIMIT',
    });
    await stores().end(runId);
    expect(await stores().admission.admitRun(both.request())).toMatchObject({
      reason: 'MONTHLY_QUOTA',
    });
  });
});
