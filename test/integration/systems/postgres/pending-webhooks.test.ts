// The reconciler's pages of pending webhooks: in turn between the projects, however many there are.

import { beforeEach, expect, test } from 'vitest';
import type { WebhookCursor } from '../../../../systems/postgres/maintenance/pending-webhooks.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { countingPool } from './counting-pool.ts';
import { endedWithWebhooks } from './ended-with-webhooks.ts';
import { setupScenario } from './setup-scenario.ts';

const { database } = setupScenario();
const pageSize = 200;
/** The page itself: each run, its log, its attempts, and the way to them in the indexes. */
const blocksMax = 6_000;

beforeEach(() => database.pool.query('truncate projects, hosts cascade'));

const scenarios = (count: number): Promise<Scenario[]> =>
  Promise.all(Array.from({ length: count }, () => createScenario(database.pool, testSealer)));
const page = (after?: WebhookCursor) =>
  createReconcileStore(database.pool).pendingWebhooks(0, after);

/** How many webhooks the page has of each project. */
async function countsOf(after?: WebhookCursor): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { projectId } of await page(after)) {
    counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  }
  return counts;
}

test('a page has a share of every project, and the oldest of each first', async () => {
  const [many, few] = await scenarios(2);
  if (!many || !few) throw new Error('no projects');
  const ids = await endedWithWebhooks(database.pool, many, 500);
  await endedWithWebhooks(database.pool, few, 3);
  const counts = await countsOf();
  expect(counts.get(few.projectId)).toBe(3);
  expect(counts.get(many.projectId)).toBe(pageSize / 2);
  const found = (await page()).filter(({ projectId }) => projectId === many.projectId);
  expect(found.map(({ runId }) => runId)).toEqual(ids.slice(0, pageSize / 2));
});

test('a page continues after the last one of each project, and begins again after the end', async () => {
  const [one] = await scenarios(1);
  if (!one) throw new Error('no project');
  const ids = await endedWithWebhooks(database.pool, one, 250);
  const last = (await page()).at(-1);
  const { projectId, runId, endedAt } = last ?? {};
  if (!projectId || !runId || !endedAt) throw new Error('no webhook');
  expect(runId).toBe(ids[pageSize - 1]);
  const next = await page({ afterProject: '', last: [{ projectId, runId, endedAt }] });
  expect(next.map((run) => run.runId)).toEqual([...ids.slice(pageSize), ...ids.slice(0, 150)]);
});

test('a page continues among webhooks of runs that have ended at the same time', async () => {
  const [one] = await scenarios(1);
  if (!one) throw new Error('no project');
  const ids = (await endedWithWebhooks(database.pool, one, 250)).sort();
  const endedAt = new Date(Date.now() - 3_600_000);
  await database.pool.query('update runs set ended_at = $1', [endedAt]);
  const last = { projectId: one.projectId, runId: ids[pageSize - 1] ?? '', endedAt };
  const next = await page({ afterProject: '', last: [last] });
  expect(next.map((run) => run.runId)).toEqual([...ids.slice(pageSize), ...ids.slice(0, 150)]);
});

test('of more projects than a page has room for, the next page has the others', async () => {
  const all = await scenarios(pageSize + 2);
  for (const each of all) await endedWithWebhooks(database.pool, each, 2);
  const sorted = all.map(({ projectId }) => projectId).sort();
  const first = await countsOf();
  expect([...first.keys()].sort()).toEqual(sorted.slice(0, pageSize));
  expect(new Set(first.values())).toEqual(new Set([1]));
  const afterProject = sorted[pageSize - 1] ?? '';
  const rest = await countsOf({ afterProject, last: [] });
  expect([...rest.keys()].sort()).toEqual(sorted.slice(pageSize));
});

test('a page does not read the webhooks that it does not have', async () => {
  const [many, few] = await scenarios(2);
  if (!many || !few) throw new Error('no projects');
  const ids = await endedWithWebhooks(database.pool, many, 10_000);
  await endedWithWebhooks(database.pool, few, 1);
  await database.pool.query('vacuum analyze runs, run_logs, webhook_attempts');
  const { counted, pool } = countingPool(database.pool);
  const { rows } = await database.pool.query<{ endedAt: Date }>(
    'select ended_at as "endedAt" from runs where id = $1',
    [ids[5_000]],
  );
  const { projectId } = many;
  const last = [{ projectId, runId: ids[5_000] ?? '', endedAt: rows[0]?.endedAt ?? new Date() }];
  for (const after of [undefined, { afterProject: '', last }]) {
    counted.blocks = 0;
    const found = await createReconcileStore(pool).pendingWebhooks(0, after);
    expect(found).toHaveLength(pageSize / 2 + 1);
    expect(counted.blocks).toBeLessThan(blocksMax);
  }
});
