// Logs must be packed faster than runs arrive, and removed ten times as fast, although the jobs
// pause for as long as they work. Runs arrive here as fast as one writer can store them.

import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createJobStore } from '../../systems/postgres/maintenance/job-store.ts';
import { createRetentionStore } from '../../systems/postgres/maintenance/retention-store.ts';
import { createRunStore } from '../../systems/postgres/runs/run-store.ts';
import {
  createPackingStep,
  createRetentionSteps,
} from '../../worker/reconciler/jobs/retention-steps.ts';
import { insertEndedLogs, writeLog } from '../integration/systems/postgres/ended-logs.ts';
import { setupScenario } from '../integration/systems/postgres/setup-scenario.ts';
import { testSealer } from '../support/database.ts';

const { database, scenario } = setupScenario();
const dayMs = 24 * 3_600_000;
const framesOfRun = 100;
const arriving = 100;
const stored = 5_000;

/** Per second. */
async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - startedAt);
}

async function arrive(): Promise<void> {
  const runs = createRunStore(database.pool, testSealer);
  for (let n = 0; n < arriving; n += 1) {
    const { runId } = await scenario.run();
    await writeLog(database.pool, runId, framesOfRun);
    await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  }
}

/** Runs the step until nothing is left. */
async function takeStep(wanted: 'packing' | 'retention'): Promise<void> {
  const { pool } = database;
  const retentionTimes = { runMs: dayMs, sessionFilesMs: dayMs, webhookAttemptsMs: dayMs };
  const deps = {
    ...{ jobs: createJobStore(pool), hostId: 'h-1', retention: createRetentionStore(pool) },
    ...{ retentionTimes, logger: pino({ level: 'silent' }) },
  };
  const steps = [...createRetentionSteps(deps), createPackingStep(deps)];
  const step = steps.find(([name]) => name === wanted);
  await step?.[1](new AbortController().signal);
}

const count = async (text: string): Promise<number> =>
  (await database.pool.query(text)).rowCount ?? 0;

it('packs faster than runs arrive, and removes at ten times that rate', {
  timeout: 10 * 60_000,
}, async () => {
  const arrived = await rateOf(arriving, arrive);
  await insertEndedLogs(database.pool, scenario, { runs: stored, framesOfRun });
  await database.pool.query('vacuum analyze');
  const packed = await rateOf(stored, () => takeStep('packing'));
  expect(await count('select from packed_frames')).toBe(stored);
  const removed = await rateOf(stored, () => takeStep('retention'));
  expect(await count('select from packed_frames')).toBe(0);
  const line = [arrived, packed, removed].map((rate) => rate.toFixed(0)).join(', ');
  process.stdout.write(`runs per second that arrive, are packed, are removed: ${line}\n`);
  expect(packed).toBeGreaterThan(arrived);
  expect(removed).toBeGreaterThan(10 * arrived);
});
