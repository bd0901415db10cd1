// Seeded random turns, and what they cost: added up here, by the ledger, by runs, and by reports.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { costOf } from '../../../../core/metering/call-cost.ts';
import type { LedgerEntry } from '../../../../core/metering/ledger-entry.ts';
import type { Run } from '../../../../core/runs/run.ts';
import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore } from '../../../../systems/postgres/accounts/key-store.ts';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import {
  createSpendStore,
  type SpendQuery,
} from '../../../../systems/postgres/runs/spend-store.ts';
import { createRandom } from '../../../fixtures/scripted-agent/random-text.ts';
import { testSealer } from '../../../support/database.ts';
import type { Scenario } from '../../../support/database-records.ts';
import { ledgerEntry, price } from './ledger-entry.ts';

const from = Date.parse('2026-11-01T00:00:00.000Z');
const to = Date.parse('2026-12-01T00:00:00.000Z') - 1;
const writers = 8;

/** By group, such as `model b`. */
type Sums = Record<string, { calls: number; unpricedCalls: number; costNanos: number }>;

/** A run and its key. */
type RunOfKey = Run & { keyId: string | null };

interface Turn {
  run: RunOfKey;
  calls: LedgerEntry[];
}

/**
 * Records so many turns at once: some of them again, as after the death of a worker, and some split
 * into two statements. Expects the same sums of November everywhere.
 */
export async function expectSumsOfTurns(
  { pool, scenario }: { pool: Pool; scenario: Scenario },
  { count, seed }: { count: number; seed: number },
): Promise<void> {
  const random = createRandom(seed);
  const runs = await createRuns(pool, scenario, random);
  const turns = Array.from({ length: count }, () => randomTurn(runs, random));
  await recordAll(pool, turns, random);
  const month = turns.map((turn) => ({
    ...turn,
    calls: turn.calls.filter(({ endedAt }) => from <= endedAt.getTime() && endedAt.getTime() <= to),
  }));
  for (const [by, groupOf] of Object.entries(groups))
    expect(await reportedBy(pool, scenario, by as SpendQuery['by'])).toEqual(
      sumsOf(month, groupOf),
    );
  expect(await ledgerByRun(pool, scenario)).toEqual(sumsOf(turns, runOf));
  await expectSumsOfMonths(pool, scenario);
  const sums = sumsOf(turns, runOf);
  for (const [runId, { calls, unpricedCalls, costNanos }] of Object.entries(sums)) {
    const total = await createLedgerStore(pool).record(runId, []);
    expect(total).toMatchObject({ calls, costNanos: unpricedCalls > 0 ? null : costNanos });
  }
}

type GroupOf = (run: RunOfKey, call: LedgerEntry) => string | null;

const groups: Record<SpendQuery['by'], GroupOf> = {
  day: (_run, { endedAt }) => endedAt.toISOString().slice(0, 10),
  flow: ({ flowId }) => flowId,
  key: ({ keyId }) => keyId,
  label: ({ labels }) => (labels['team'] === undefined ? null : JSON.stringify(labels['team'])),
  model: (_run, { model }) => model,
};
const runOf: GroupOf = ({ runId }) => runId;

async function createRuns(
  pool: Pool,
  scenario: Scenario,
  random: () => number,
): Promise<RunOfKey[]> {
  const { projectId } = scenario;
  const flow = await createFlowStore(pool, testSealer).create({ projectId, name: 'Second' });
  const key = await createKeyStore(pool).create({ projectId, name: 'ci', createdBy: 'ana' });
  return Promise.all(
    Array.from({ length: 12 }, async () => {
      const team = pick(['red', 'b"l\\ue', undefined], random);
      const flowId = pick([scenario.flow.flowId, flow.flowId], random);
      const keyId = pick([key.record.keyId, null], random);
      const labels = team === undefined ? {} : { team };
      return { ...(await scenario.run({ flowId, keyId, labels })), keyId };
    }),
  );
}

const pick = <T>(values: readonly T[], random: () => number): T =>
  values[Math.floor(random() * values.length)] as T;

function randomTurn(runs: readonly RunOfKey[], random: () => number): Turn {
  const messageId = random() < 0.5 ? null : randomUUID();
  const length = 1 + Math.floor(random() * 4);
  const calls = Array.from({ length }, () => ({ ...randomCall(random), messageId }));
  return { run: pick(runs, random), calls };
}

function randomCall(random: () => number): LedgerEntry {
  const upTo = (max: number) => Math.floor(random() * max);
  const tokens = {
    ...{ input: upTo(10_000), output: upTo(2_000), cacheRead: upTo(50_000), webSearches: upTo(3) },
    ...{ cacheWrite5m: upTo(5_000), cacheWrite1h: upTo(5_000) },
  };
  const within = from + upTo(to - from);
  const endedAt = new Date(pick([within, within, from - 1, from, to, to + 1], random));
  const model = pick(['a', 'b', 'unpriced'], random);
  const known = { price, costNanos: costOf(tokens, price) };
  const cost = model === 'unpriced' && random() < 0.3 ? { price: null, costNanos: null } : known;
  return ledgerEntry({ model, tokens, endedAt, ...cost });
}

async function recordAll(pool: Pool, turns: readonly Turn[], random: () => number): Promise<void> {
  const statements = turns.flatMap(({ run: { runId }, calls }) => {
    const all = { runId, calls };
    if (random() < 0.2) return [all, all];
    const parts = [calls.slice(0, 1), calls.slice(1)].map((part) => ({ runId, calls: part }));
    return random() < 0.2 ? parts : [all];
  });
  const ledger = createLedgerStore(pool);
  async function write(): Promise<void> {
    for (let next = statements.pop(); next !== undefined; next = statements.pop())
      await ledger.record(next.runId, next.calls);
  }
  await Promise.all(Array.from({ length: writers }, write));
}

function sumsOf(turns: readonly Turn[], groupOf: GroupOf): Sums {
  const sums: Sums = {};
  for (const { run, calls } of turns) {
    for (const call of calls) {
      const sum = (sums[String(groupOf(run, call))] ??= {
        calls: 0,
        unpricedCalls: 0,
        costNanos: 0,
      });
      sum.calls += 1;
      sum.unpricedCalls += call.costNanos === null ? 1 : 0;
      sum.costNanos += call.costNanos ?? 0;
    }
  }
  return sums;
}

/** The groups of all pages. Every page has the same total, which is the sum of the groups. */
async function reportedBy(
  pool: Pool,
  { projectId }: Scenario,
  by: SpendQuery['by'],
): Promise<Sums> {
  const range = { from: '2026-11-01', to: '2026-11-30', limit: 3, order: 'cost' as const };
  const query = { ...range, projectId, by, ...(by === 'label' && { label: 'team' }) };
  const sums: Sums = {};
  let page = await createSpendStore(pool).page(query);
  const { total } = page;
  for (;;) {
    expect(page.total).toEqual(total);
    for (const { group, calls, unpricedCalls, costNanos } of page.groups)
      sums[String(group)] = { calls, unpricedCalls, costNanos };
    if (page.next === null) break;
    page = await createSpendStore(pool).page({ ...query, after: page.next });
  }
  const added = Object.values(sums).reduce((sum, { costNanos }) => sum + costNanos, 0);
  expect(added).toBe(total.costNanos);
  return sums;
}

async function ledgerByRun(pool: Pool, { projectId }: Scenario): Promise<Sums> {
  const { rows } = await pool.query<Sums[string] & { runId: string }>(
    `select run_id as "runId", count(*)::integer as calls,
            count(*) filter (where cost_nanos is null)::integer as "unpricedCalls",
            coalesce(sum(cost_nanos), 0)::bigint as "costNanos"
     from model_calls where project_id = $1 group by run_id`,
    [projectId],
  );
  return Object.fromEntries(rows.map(({ runId, ...sums }) => [runId, sums]));
}

/** Expects the sums of every month from this day on to equal those of its days. */
export async function expectSumsOfMonths(
  pool: Pool,
  { projectId }: Scenario,
  fromDay = '-infinity',
): Promise<void> {
  const { rows: months } = await pool.query(
    `select owner, owner_id, month, cost_nanos from monthly_spending where project_id = $1
     order by owner, owner_id, month`,
    [projectId],
  );
  const { rows: days } = await pool.query(
    `select owner, owner_id, date_trunc('month', day)::date as month,
            sum(cost_nanos)::bigint as cost_nanos
     from daily_spending cross join lateral (
       values ('project', project_id), ('flow', flow_id::text), ('key', key_id::text)
     ) o(owner, owner_id)
     where project_id = $1 and owner_id is not null and cost_nanos > 0 and day >= $2
     group by 1, 2, 3 order by 1, 2, 3`,
    [projectId, fromDay],
  );
  expect(months).toEqual(days);
}
