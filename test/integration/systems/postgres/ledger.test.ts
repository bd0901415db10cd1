import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { costOf } from '../../../../core/metering/call-cost.ts';
import { modelPrice } from '../../../../core/metering/model-prices.ts';
import { noTokens } from '../../../../core/metering/token-counts.ts';
import type { Run } from '../../../../core/runs/run.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { costNanos, ledgerEntry, price } from './ledger-entry.ts';
import { expectSumsOfTurns } from './seeded-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const ledger = () => createLedgerStore(database.pool);

const unpriced = { price: null, costNanos: null };

async function rowsOf(table: string, column: string, value: string) {
  const text = `select * from ${table} where ${column} = $1 order by 1, 2`;
  const { rows } = await database.pool.query<Record<string, unknown>>(text, [value]);
  return rows;
}

describe('a call', () => {
  test('is stored with its tokens, its price, and what identifies its run', async () => {
    const run = await scenario.run({ labels: { order: '1', odd: 'a\0b' } });
    const made = ledgerEntry({
      messageId: randomUUID(),
      isCutOff: true,
      isEstimated: true,
      model: 'a\0b',
    });
    await ledger().record(run.runId, [made]);
    const [row] = await rowsOf('model_calls', 'run_id', run.runId);
    expect(row).toMatchObject({
      ...{ id: made.callId, run_id: run.runId, message_id: made.messageId, model: 'a\ufffdb' },
      ...{ project_id: scenario.projectId, flow_id: scenario.flow.flowId, key_id: null },
      ...{ started_at: made.startedAt, ended_at: made.endedAt, status: 200 },
      ...{ is_cut_off: true, is_estimated: true, input_tokens: 100, output_tokens: 10 },
      ...{ cache_read_tokens: 50, cache_write_5m_tokens: 3, cache_write_1h_tokens: 4 },
      ...{ web_searches: 0, cost_nanos: costNanos },
    });
    expect(JSON.parse(String(row?.['price']))).toEqual(price);
    expect(JSON.parse(String(row?.['labels']))).toEqual({ order: '1', odd: 'a\0b' });
  });

  test('has the labels of the admission, although they have changed since', async () => {
    const run = await scenario.run({ labels: { team: 'one' } });
    const runs = createRunStore(database.pool, testSealer);
    await runs.changeLabels(run.runId, { team: 'two' });
    await runs.changeLabels(run.runId, { team: 'three' });
    await ledger().record(run.runId, [ledgerEntry()]);
    const [row] = await rowsOf('model_calls', 'run_id', run.runId);
    expect(JSON.parse(String(row?.['labels']))).toEqual({ team: 'one' });
  });

  test('is added once, however often and by however many processes it is recorded', async () => {
    const { runId } = await scenario.run();
    const [first, second] = [ledgerEntry(), ledgerEntry()];
    const batches = [[first], [first, second], [second], [first, second]];
    await Promise.all(batches.map((batch) => ledger().record(runId, batch)));
    expect(await ledger().record(runId, [])).toMatchObject({ calls: 2, costNanos: 2 * costNanos });
    expect(await rowsOf('model_calls', 'run_id', runId)).toHaveLength(2);
    expect(await rowsOf('turn_spending', 'turn_id', runId)).toMatchObject([
      { calls: 2, cost_nanos: 2 * costNanos },
    ]);
  });

  test('of a deleted run is not added', async () => {
    expect(await ledger().record(randomUUID(), [ledgerEntry()])).toBeNull();
  });
});

describe('what a run has spent', () => {
  test('is unknown before its first call', async () => {
    const { runId } = await scenario.run();
    expect(await ledger().record(runId, [])).toMatchObject({ calls: 0, costNanos: null });
  });

  test('is 0 after a call that failed', async () => {
    const { runId } = await scenario.run();
    const failed = ledgerEntry({ status: 529, tokens: noTokens, costNanos: 0 });
    expect(await ledger().record(runId, [failed])).toMatchObject({ calls: 1, costNanos: 0 });
  });

  test('is unknown from the first call without a price on', async () => {
    const { runId } = await scenario.run();
    expect(await ledger().record(runId, [ledgerEntry()])).toMatchObject({ calls: 1, costNanos });
    expect(await ledger().record(runId, [ledgerEntry(), ledgerEntry(unpriced)])).toMatchObject({
      calls: 3,
      costNanos: null,
    });
    expect(await ledger().record(runId, [ledgerEntry()])).toMatchObject({
      calls: 4,
      costNanos: null,
    });
    expect(await rowsOf('turn_spending', 'turn_id', runId)).toMatchObject([
      { calls: 4, unpriced_calls: 1, cost_nanos: 3 * costNanos },
    ]);
  });

  test('stays within its column, even if a provider reports absurd usage', async () => {
    const { runId } = await scenario.run();
    const absurd = { ...noTokens, input: 1e9, output: 1e9 };
    const most = modelPrice({ input: 1_000, output: 1_000, cacheRead: 1 });
    const calls = Array.from({ length: 20 }, () =>
      ledgerEntry({ tokens: absurd, price: most, costNanos: costOf(absurd, most) }),
    );
    expect(await ledger().record(runId, calls)).toMatchObject({ calls: 20, costNanos: 9e15 });
    expect(await ledger().record(runId, calls.slice(0, 1))).toMatchObject({
      calls: 20,
      costNanos: 9e15,
    });
  });
});

describe('the sums of the ledger', () => {
  test('are kept per turn and day in UTC', async () => {
    const run = await scenario.session();
    const [one, other] = [randomUUID(), randomUUID()].sort();
    const nextDay = new Date('2026-11-24T00:00:00Z');
    await ledger().record(run.runId, [
      ledgerEntry({ messageId: one ?? '' }),
      ledgerEntry({ messageId: one ?? '', endedAt: nextDay }),
      ledgerEntry({ messageId: other ?? '' }),
      ledgerEntry({ messageId: other ?? '' }),
    ]);
    const rows = await database.pool.query(
      `select turn_id, day::text, calls, input_tokens, cache_write_tokens, cost_nanos
       from turn_spending where run_id = $1 order by turn_id, day`,
      [run.runId],
    );
    const sums = (calls: number) => ({
      calls,
      ...{
        input_tokens: 100 * calls,
        cache_write_tokens: 7 * calls,
        cost_nanos: costNanos * calls,
      },
    });
    expect(rows.rows).toEqual([
      { turn_id: one, day: '2026-11-23', ...sums(1) },
      { turn_id: one, day: '2026-11-24', ...sums(1) },
      { turn_id: other, day: '2026-11-23', ...sums(2) },
    ]);
  });

  test('equal the calls, although runs of one project record at once', async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, () => scenario.run()));
    const models = ['b', 'a', 'c'];
    const callsOf = ({ runId }: Run, n: number) =>
      ledger().record(
        runId,
        models.map((_, at) => ledgerEntry({ model: models[(at + n) % 3] ?? '' })),
      );
    await Promise.all(runs.flatMap((run) => Array.from({ length: 10 }, (_, n) => callsOf(run, n))));
    const { rows } = await database.pool.query(
      `select model, sum(calls)::int as calls, sum(cost_nanos)::bigint as "costNanos" from daily_spending
       where project_id = $1 and model = any($2) group by model order by model`,
      [scenario.projectId, models],
    );
    expect(rows).toEqual(
      models.toSorted().map((model) => ({ model, calls: 80, costNanos: 80 * costNanos })),
    );
  });

  test('are equal in runs, ledger and report over random turns', async () => {
    const other = await createScenario(database.pool, testSealer);
    await expectSumsOfTurns({ pool: database.pool, scenario: other }, { count: 300, seed: 17 });
  });
});
