import pg from 'pg';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { modelLimits } from '../../../../core/model/model-limits.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createRetention } from '../../../../worker/reconciler/jobs/retention.ts';
import { testSealer } from '../../../support/database.ts';
import { setDatabaseClock } from './clock.ts';
import { costNanos, ledgerEntry } from './ledger-entry.ts';
import { expectSumsOfMonths } from './seeded-turns.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const dayMs = 24 * 3_600_000;
const start = Date.parse('2026-03-01T00:00:00Z');
const { database, scenario } = setupFreshScenario();
const runs = () => createRunStore(database.pool, testSealer);

const timeIs = (afterMs: number) =>
  setDatabaseClock(database.pool, new Date(start + afterMs).toISOString());
beforeEach(() => timeIs(0));

async function sweep(): Promise<void> {
  const { purgeRows } = createRetention({
    retention: createRetentionStore(database.pool),
    retentionTimes: { runMs: dayMs, sessionFilesMs: dayMs, webhookAttemptsMs: dayMs },
    logger: pino({ level: 'silent' }),
  });
  let isDone = false;
  while (!isDone) isDone = await purgeRows();
}

async function endedRun(): Promise<string> {
  const { runId } = await scenario.run();
  const at = new Date(start);
  const calls = [ledgerEntry({ endedAt: at }), ledgerEntry({ endedAt: at })];
  await createLedgerStore(database.pool).record(runId, calls);
  await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  return runId;
}

async function countOf(runId: string) {
  const count = async (text: string, value: string) =>
    (await database.pool.query(text, [value])).rowCount;
  return {
    calls: await count('select from model_calls where run_id = $1', runId),
    turns: await count('select from turn_spending where run_id = $1', runId),
    days: await count('select from daily_spending where project_id = $1', scenario.projectId),
  };
}

test('keeps the calls of a run and their sums for 13 months, and then only its totals', async () => {
  const runId = await endedRun();
  await timeIs(modelLimits.ledgerRetentionMs);
  await sweep();
  expect(await countOf(runId)).toEqual({ calls: 2, turns: 1, days: 1 });
  await timeIs(modelLimits.ledgerRetentionMs + 1);
  await sweep();
  expect(await countOf(runId)).toEqual({ calls: 0, turns: 1, days: 1 });
  await timeIs(modelLimits.ledgerRetentionMs + dayMs);
  await sweep();
  expect(await countOf(runId)).toEqual({ calls: 0, turns: 0, days: 0 });
  const spent = await createLedgerStore(database.pool).record(runId, []);
  expect(spent).toMatchObject({ calls: 2, costNanos: 2 * costNanos });
});

test('keeps the sum of a month until its first day has expired', async () => {
  const { runId } = await scenario.run();
  const days = ['2026-03-01', '2026-03-31', '2026-04-01', '2026-04-30'];
  const calls = days.map((day) => ledgerEntry({ endedAt: new Date(`${day}T00:00:00Z`) }));
  await createLedgerStore(database.pool).record(runId, calls);
  await timeIs(modelLimits.ledgerRetentionMs + dayMs - 1);
  await sweep();
  await expectSumsOfMonths(database.pool, scenario);
  await timeIs(modelLimits.ledgerRetentionMs + dayMs);
  await sweep();
  expect(await countOf(runId)).toMatchObject({ days: 3 });
  await expectSumsOfMonths(database.pool, scenario, '2026-04-01');
});

test('keeps the sums of a day until its end in UTC, in every time zone of the server', async () => {
  const runId = await endedRun();
  const options = '-c timezone=Pacific/Kiritimati'; // 14 hours ahead
  const ahead = new pg.Pool({ connectionString: database.url, options });
  try {
    await timeIs(modelLimits.ledgerRetentionMs + dayMs - 1);
    await createRetentionStore(ahead).spending(modelLimits.ledgerRetentionMs);
    expect(await countOf(runId)).toMatchObject({ turns: 1, days: 1 });
  } finally {
    await ahead.end();
  }
});

test('keeps the calls of a run that was deleted, after its last trace is gone', async () => {
  const runId = await endedRun();
  await runs().markDeleted(runId);
  await timeIs(2 * limits.retention.tombstoneTtlMs);
  await sweep();
  expect(await runs().find(runId)).toBeNull();
  expect(await countOf(runId)).toEqual({ calls: 2, turns: 1, days: 1 });
});
