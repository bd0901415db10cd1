import { expect, it } from 'vitest';
import { packingLimits } from '../../../../../core/frames/packing-limits.ts';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { createRetentionSteps } from '../../../../../worker/reconciler/jobs/retention-steps.ts';
import { testSealer } from '../../../../support/database.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
const minuteMs = 60_000;
const retentionTimes = { runMs: minuteMs, sessionFilesMs: minuteMs, webhookAttemptsMs: minuteMs };

/** Takes the step at once, even if its job pauses. */
async function pack(): Promise<number | null> {
  await database.pool.query('update reconciler_jobs set free_at = db_clock()');
  const steps = createRetentionSteps({ ...fixture.deps, retentionTimes });
  const step = steps.find(([name]) => name === 'packing');
  await step?.[1](new AbortController().signal);
  return (await database.pool.query('select from packed_frames')).rowCount;
}

/** Of all logs, as if that much time had passed since the end. */
const age = (ms: number) =>
  database.pool.query(
    `update run_logs set unpacked_since = unpacked_since - $1 * interval '1 ms'`,
    [ms],
  );

it('packs a log some minutes after the end of its run, and not before', async () => {
  const { runId } = await scenario.run();
  const frame = { event: 'assistant', channel: 'chat', data: '{}' } as const;
  await createFrameStore(database.pool).appendOwn({ runId, frames: [frame] });
  await createRunStore(database.pool, testSealer).endRun({
    ...{ runId, cause: 'completed', detail: null, exitCode: 0 },
  });
  await age(packingLimits.afterMs - minuteMs);
  expect(await pack()).toBe(0);
  await age(minuteMs);
  expect(await pack()).toBe(1);
});
