import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Frame } from '../../../../../core/frames/frame.ts';
import { packingLimits } from '../../../../../core/frames/packing-limits.ts';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { createPacking } from '../../../../../worker/reconciler/jobs/packing.ts';
import { createPackingStep } from '../../../../../worker/reconciler/jobs/retention-steps.ts';
import { createReconciler } from '../../../../../worker/reconciler/reconciler.ts';
import { withStepDeadline } from '../../../../../worker/reconciler/step-deadline.ts';
import { testSealer } from '../../../../support/database.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
const minuteMs = 60_000;
const retentionTimes = { runMs: minuteMs, sessionFilesMs: minuteMs, webhookAttemptsMs: minuteMs };

/** Runs the step at once, even while its job pauses. */
async function pack(): Promise<number | null> {
  await database.pool.query('update reconciler_jobs set free_at = db_clock()');
  const [, work] = createPackingStep({ ...fixture.deps, retentionTimes });
  await work(new AbortController().signal);
  return packedRows();
}

const packedRows = async () => (await database.pool.query('select from packed_frames')).rowCount;

/** Of all logs, as if that much time had passed since the end. */
const age = (ms: number) =>
  database.pool.query(
    `update run_logs set unpacked_since = unpacked_since - $1 * interval '1 ms'`,
    [ms],
  );

const frame: Frame = { event: 'assistant', channel: 'chat', data: '{}' };

/** A run that has ended, with this many frames. */
async function endedRun(length: number): Promise<void> {
  const { runId } = await scenario.run();
  const frames = Array.from({ length }, () => frame);
  await createFrameStore(database.pool).appendOwn({ runId, frames });
  await createRunStore(database.pool, testSealer).endRun({
    ...{ runId, cause: 'completed', detail: null, exitCode: 0 },
  });
}

it('packs a log some minutes after the end of its run, and not before', async () => {
  await endedRun(1);
  await age(packingLimits.afterMs - minuteMs);
  expect(await pack()).toBe(0);
  await age(minuteMs);
  expect(await pack()).toBe(1);
});

it.each(['deadline', 'signal'] as const)(
  'after the %s of its step begins no further transaction, and the next call continues',
  async (end) => {
    await database.pool.query('truncate packed_frames');
    await endedRun(2 * packingLimits.chunkFrames + 1);
    await endedRun(1);
    await age(2 * packingLimits.afterMs);
    const packLogs = createPacking(fixture.deps);
    const call =
      end === 'signal'
        ? () => packLogs(AbortSignal.abort())
        : () => withStepDeadline(performance.now(), () => packLogs(new AbortController().signal));
    const rows: (number | null)[] = [];
    while (!(await call())) rows.push(await packedRows());
    expect(rows).toEqual([1, 2, 3, 4]);
  },
);

it('delays neither the deletion of data nor the sums of stored bytes', async () => {
  const retention = { ...fixture.deps.retention, packLogs: () => sleep(10, 1) };
  const stop = new AbortController();
  const running = createReconciler({ ...fixture.deps, retention }).run(stop.signal);
  const done = async () => {
    const text = 'select name from reconciler_jobs where leader is null order by name';
    return (await database.pool.query<{ name: string }>(text)).rows.map(({ name }) => name);
  };
  try {
    await expect.poll(done).toEqual(expect.arrayContaining(['blobs', 'retention', 'stored_bytes']));
    expect(await done()).not.toContain('packing');
  } finally {
    stop.abort();
    await running;
  }
});
