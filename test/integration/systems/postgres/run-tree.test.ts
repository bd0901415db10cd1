// The budget of a tree of runs as its hosts see it.

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
