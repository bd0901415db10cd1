// Another transaction has locked as many runs as a batch has, for example because a host stores
// their files.

import { expect, it } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import { createRetentionSteps } from '../../../../../worker/reconciler/jobs/retention-steps.ts';
import { endedWithWebhooks } from '../../../systems/postgres/ended-with-webhooks.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
const minuteMs = 60_000;
const retentionTimes = { runMs: minuteMs, sessionFilesMs: minuteMs, webhookAttemptsMs: minuteMs };

/** Takes the step at once, even if its job pauses. */
async function applyRetention(): Promise<void> {
  await database.pool.query('update reconciler_jobs set free_at = db_clock()');
  const steps = createRetentionSteps({ ...fixture.deps, retentionTimes });
  const step = steps.find(([name]) => name === 'retention');
  await step?.[1](new AbortController().signal);
}

async function dueInMs(): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    `select extract(epoch from free_at - db_clock())::float8 * 1000 as ms
     from reconciler_jobs where name = 'retention'`,
  );
  return rows[0]?.ms ?? 0;
}

async function unpurged(): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from runs where log_purged_at is null or files_purged_at is null order by ended_at`,
  );
  return rows.map(({ id }) => id);
}

it('skips a batch of locked runs, purges the others, and returns to the locked ones soon', async () => {
  const ids = await endedWithWebhooks(database.pool, scenario, limits.retention.batchRuns + 1);
  const locked = ids.slice(0, limits.retention.batchRuns);
  const other = await database.pool.connect();
  try {
    await other.query('begin');
    await other.query('select from runs where id = any($1) for update', [locked]);
    await applyRetention();
    expect(await unpurged()).toEqual(locked);
    expect(await dueInMs()).toBeLessThanOrEqual(limits.reconciler.jobPollMs);
    expect(await dueInMs(), 'not at once').toBeGreaterThan(0);
  } finally {
    await other.query('rollback');
    other.release();
  }
  await applyRetention();
  expect(await unpurged()).toEqual([]);
  expect(await dueInMs()).toBeGreaterThan(limits.reconciler.jobPollMs);
});
