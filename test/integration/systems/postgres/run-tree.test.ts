// The budget of a run tree as its hosts see it, and the end of its runs.

import { expect, test } from 'vitest';
import { usdOf } from '../../../../core/metering/call-cost.ts';
import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { costNanos, ledgerEntry } from './ledger-entry.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const runs = () => createRunStore(database.pool, testSealer);
const record = (runId: string, calls = [ledgerEntry()]) =>
  createLedgerStore(database.pool).record(runId, calls);

async function permitChildren(maxBudgetUsd: number | null): Promise<void> {
  const childRuns = { maxRuns: 100, maxConcurrent: 100, maxBudgetUsd };
  const flows = createFlowStore(database.pool, testSealer);
  await flows.change(scenario.flow.flowId, () => ({ childRuns }));
}

async function admit(parentRunId?: string): Promise<string> {
  const parent = parentRunId === undefined ? {} : { parent: { runId: parentRunId, depthMax: 3 } };
  const request = { ...scenario.request(), ...parent };
  const admission = await createAdmission(database.pool, testSealer).admitRun(request);
  if (admission.outcome !== 'admitted') throw new Error(JSON.stringify(admission));
  return admission.run.runId;
}

test('the calls of all runs of a tree count against its budget', async () => {
  await permitChildren(usdOf(3 * costNanos));
  const root = await admit();
  const child = await admit(root);
  const grandchild = await admit(child);
  const other = await admit();
  expect(await record(root)).toMatchObject({ reachedBudget: 'none' });
  expect(await record(grandchild)).toMatchObject({ reachedBudget: 'none' });
  expect(await record(other, [])).toMatchObject({ reachedBudget: 'none' });
  expect(await record(child)).toMatchObject({ reachedBudget: 'tree' });
  for (const runId of [root, child, grandchild]) {
    expect(await record(runId, [])).toMatchObject({ reachedBudget: 'tree' });
    const plan = await runs().sandboxPlan(runId);
    expect(plan).toMatchObject({ reachedBudget: 'tree', hasTreeBudget: true });
  }
  expect(await record(other, [])).toMatchObject({ reachedBudget: 'none' });
  await permitChildren(null);
  expect(await record(root, [])).toMatchObject({ reachedBudget: null });
  expect(await runs().sandboxPlan(root)).toMatchObject({ hasTreeBudget: false });
});

const causesOf = async (...runIds: string[]) =>
  Promise.all(runIds.map(async (runId) => (await runs().find(runId))?.endCause ?? null));

test('the end of a run that a caller requests ends all runs below it, and no other', async () => {
  await permitChildren(null);
  const root = await admit();
  const child = await admit(root);
  const grandchild = await admit(child);
  const sibling = await admit(root);
  const stopped = { cause: 'stopped_by_api', author: undefined } as const;
  await runs().requestEnd({ runId: child, ...stopped });
  expect(await causesOf(root, child, grandchild, sibling)).toEqual([
    ...[null, 'stopped_by_api', 'stopped_by_api', null],
  ]);
  await runs().markDeleted(root);
  expect(await causesOf(root, sibling)).toEqual(['deleted_by_api', 'stopped_by_api']);
});

test('a run that is being stopped gets no child, however both meet', async () => {
  await permitChildren(null);
  for (let round = 0; round < 20; round += 1) {
    const root = await admit();
    const starts = Array.from({ length: 3 }, () => admit(root).catch(() => null));
    const stopped = { runId: root, cause: 'stopped_by_api', author: undefined } as const;
    await Promise.all([...starts, runs().requestEnd(stopped)]);
    const text = 'select count(*) from runs where ancestor_ids[1] = $1 and end_cause is null';
    expect((await database.pool.query(text, [root])).rows).toEqual([{ count: 0 }]);
  }
});
