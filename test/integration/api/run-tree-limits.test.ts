// The limits of the runs that agents start: the depth of their tree, and its budgets.

import { expect, test } from 'vitest';
import { agentOf, flowWithChildren } from './agent-caller.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();

type Limits = Parameters<typeof flowWithChildren>[2];

async function startTree(limits: Limits) {
  const flowId = await flowWithChildren(fixture, tenant.projectId, limits);
  const { json } = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  const root: string = json.data.runId;
  return { flowId, root, start: (runId = root) => agentOf(api, runId).startChild(flowId) };
}

const uuid = /^[0-9a-f-]{36}$/;
const rejected = /^RUN_TREE_LIMIT: /;

const countBelow = async (root: string): Promise<number> => {
  const text = 'select count(*) from runs where ancestor_ids[1] = $1';
  return Number((await fixture.database.pool.query(text, [root])).rows[0].count);
};

async function end(runId: string): Promise<void> {
  const ended = { cause: 'completed', detail: null, exitCode: 0 } as const;
  await fixture.stores.runs.endRun({ runId, ...ended });
}

test('runs are nested as deeply as permitted, and not deeper', async () => {
  const { start, root } = await startTree({});
  let runId = root;
  for (let depth = 1; depth <= 3; depth += 1) {
    runId = await start(runId);
    expect(runId, `depth ${depth}`).toMatch(uuid);
  }
  expect(await start(runId)).toMatch(/^RUN_TREE_LIMIT: This run is at the maximum depth/);
  expect(await countBelow(root)).toBe(3);
});

test('a tree has as many runs as permitted, also after some have ended', async () => {
  const { start, root } = await startTree({ maxRuns: 3 });
  const first = await start();
  const second = await start(first);
  await end(second);
  expect(await start(first)).toMatch(uuid);
  for (const parent of [root, first])
    expect(await start(parent)).toMatch(/^RUN_TREE_LIMIT: .*childRuns\.maxRuns/);
  expect(await countBelow(root)).toBe(3);
});

test('a tree has as many active runs as permitted, and further ones when one has ended', async () => {
  const { start, root } = await startTree({ maxConcurrent: 2 });
  const first = await start();
  const second = await start(first);
  expect(await start()).toMatch(/^RUN_TREE_LIMIT: .*childRuns\.maxConcurrent/);
  await end(second);
  expect(await start()).toMatch(uuid);
  expect(await countBelow(root)).toBe(3);
});

test('if several agents start the last run that a tree permits, one succeeds', async () => {
  const { start, root } = await startTree({ maxRuns: 3 });
  const first = await start();
  const second = await start();
  const starts = [root, first, second, root, first, second].map((parent) => start(parent));
  const outcomes = await Promise.all(starts);
  expect(outcomes.filter((outcome) => uuid.test(outcome))).toHaveLength(1);
  expect(outcomes.filter((outcome) => rejected.test(outcome))).toHaveLength(5);
  expect(await countBelow(root)).toBe(3);
});

test('the error over HTTP has the limit and the current value', async () => {
  const { flowId, root, start } = await startTree({ maxRuns: 1 });
  await start();
  const path = `/api/v1/flows/${flowId}/runs`;
  const answer = await agentOf(api, root).call(path, { body: { prompt: 'Go' } });
  expect(answer.status).toBe(429);
  expect(answer.json.error).toMatchObject({ code: 'RUN_TREE_LIMIT', limit: 1, current: 1 });
});

const spend = (runId: string, nanos: number) =>
  fixture.database.pool.query('update runs set known_cost_nanos = $2 where id = $1', [
    runId,
    nanos,
  ]);

test('all runs of a tree spend its budget, and nothing starts when it is spent', async () => {
  const { root, start } = await startTree({ maxBudgetUsd: 0.5 });
  const child = await start();
  await spend(root, 0.2e9);
  await spend(child, 0.3e9 - 1);
  expect(await start()).toMatch(uuid);
  await spend(child, 0.3e9);
  for (const parent of [root, child])
    expect(await start(parent)).toMatch(/^RUN_TREE_LIMIT: .*childRuns\.maxBudgetUsd/);
  expect(await countBelow(root)).toBe(2);
});
