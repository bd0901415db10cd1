import { beforeAll, expect, test } from 'vitest';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import {
  createSpendStore,
  type SpendQuery,
} from '../../../../systems/postgres/runs/spend-store.ts';
import { ledgerEntry } from './ledger-entry.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const groupings: SpendQuery['by'][] = ['day', 'flow', 'key', 'label', 'model'];

const queryBy = (by: SpendQuery['by']): SpendQuery => ({
  ...{ projectId: scenario.projectId, by, from: '2026-11-01', to: '2026-11-30' },
  ...{ order: 'cost', limit: 50, ...(by === 'label' && { label: 'team' }) },
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The nodes of the plan of the statement that the report executes. */
async function planOf(by: SpendQuery['by']): Promise<PlanNode[]> {
  const plans: PlanNode[] = [];
  const query = async (text: string, values: unknown[]) => {
    const explained = await database.pool.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (format json) ${text}`,
      values,
    );
    plans.push(...explained.rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan)));
    return database.pool.query(text, values);
  };
  await createSpendStore({ query } as unknown as Pool).page(queryBy(by));
  return plans.flatMap(nodesOf);
}

const sums = `1, 0, 1, 1, 0, 0, 1`;

beforeAll(async () => {
  const { runId } = await scenario.run({ labels: { team: 'red' } });
  await createLedgerStore(database.pool).record(runId, [ledgerEntry()]);
  const others = `from generate_series(1, 20000) n`;
  await database.pool.query(
    `insert into daily_spending select '2026-11-10', 'p-' || n, gen_random_uuid(), null, 'm', ${sums} ${others}`,
  );
  await database.pool.query(
    `insert into daily_label_spending select 'p-' || n, 'team', '2026-11-10', '"red"', ${sums} ${others}`,
  );
  await database.pool.query('analyze');
});

test.each(groupings)('the report by %s reads sums by an index, and no single call', async (by) => {
  const nodes = await planOf(by);
  const tables = new Set(nodes.flatMap((node) => node['Relation Name'] ?? []));
  expect(tables).toContain('daily_spending');
  expect(tables.has('daily_label_spending')).toBe(by === 'label');
  for (const calls of ['model_calls', 'turn_spending', 'runs']) expect(tables).not.toContain(calls);
  const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan');
  expect(scanned.flatMap((node) => node['Relation Name'] ?? [])).not.toContain('daily_spending');
  expect(scanned.flatMap((node) => node['Relation Name'] ?? [])).not.toContain(
    'daily_label_spending',
  );
});

test('sums by label equal the calls, although runs with labels in any order record at once', async () => {
  const labels = [{ a: '1', b: '2' }, { b: '2', a: '1' }, { c: '3', a: '1' }, { a: '9' }];
  const runs = await Promise.all(
    Array.from({ length: 8 }, (_, n) => scenario.run({ labels: labels[n % 4] ?? {} })),
  );
  const record = ({ runId }: { runId: string }) =>
    createLedgerStore(database.pool).record(runId, [ledgerEntry(), ledgerEntry()]);
  await Promise.all(runs.flatMap((run) => Array.from({ length: 10 }, () => record(run))));
  const callsBy = async (label: string) => {
    const page = await createSpendStore(database.pool).page({ ...queryBy('label'), label });
    return Object.fromEntries(page.groups.map(({ group, calls }) => [group, calls]));
  };
  expect(await callsBy('a')).toEqual({ '"1"': 120, '"9"': 40, null: 1 });
  expect(await callsBy('b')).toEqual({ '"2"': 80, null: 81 });
});
