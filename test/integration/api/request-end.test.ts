import { expect, test } from 'vitest';
import { createLedgerStore } from '../../../systems/postgres/runs/ledger-store.ts';
import { ledgerEntry } from '../systems/postgres/ledger-entry.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, tenant, call } = useTenant();

async function newRun(): Promise<{ runId: string; workflowId: string; path: string }> {
  const made = await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
  const { runId } = made.json.data;
  return { runId, workflowId: `run/${runId}`, path: `/api/v1/runs/${runId}` };
}

test('stop records the cause, returns `stopping`, and is repeatable', async () => {
  const { runId, workflowId, path } = await newRun();
  const first = await call(`${path}/stop`, { body: { graceSeconds: 3 } });
  expect(first.status).toBe(200);
  expect(first.json.data).toMatchObject({
    runId,
    status: 'running',
    stopping: true,
    finishedAt: null,
  });
  expect(first.json.data).not.toHaveProperty('error');
  expect(first.json.data).not.toHaveProperty('prompt');
  const again = await call(`${path}/stop`, { method: 'POST' });
  expect([again.status, again.json.data.stopping]).toEqual([200, true]);
  expect(fixture.asked.stopped.filter((order) => order.workflowId === workflowId)).toEqual([
    { workflowId, graceMs: 3_000 },
    { workflowId, graceMs: 10_000 },
  ]);
  await fixture.stores.runs.endRun({ runId, cause: 'exited', detail: null, exitCode: 143 });
  const ended = await call(`${path}/stop`, { body: {} });
  expect(ended.json.data).toMatchObject({
    status: 'sleep',
    exitCode: 143,
    error: 'stopped_by_api',
    finishedAt: expect.stringMatching(/Z$/),
  });
  expect(ended.json.data).not.toHaveProperty('stopping');
  expect(fixture.asked.stopped.filter((order) => order.workflowId === workflowId)).toHaveLength(2);
});

test('interrupt ends a run gracefully, and is repeatable', async () => {
  const { runId, workflowId, path } = await newRun();
  for (const body of [{}, undefined]) {
    const answer = await call(`${path}/interrupt`, { method: 'POST', body });
    expect(answer.status).toBe(200);
    expect(answer.json.data).toMatchObject({ runId, stopping: true, finishedAt: null });
    expect(answer.json.data).not.toHaveProperty('prompt');
  }
  expect(fixture.asked.stopped.filter((order) => order.workflowId === workflowId)).toEqual([
    { workflowId, graceMs: 10_000 },
    { workflowId, graceMs: 10_000 },
  ]);
  await call(`${path}/stop`, { body: {} });
  await fixture.stores.runs.endRun({ runId, cause: 'exited', detail: null, exitCode: 0 });
  const ended = await call(`${path}/interrupt`, { body: {} });
  expect([ended.status, ended.json.data]).toMatchObject([
    200,
    { status: 'sleep', error: 'interrupted_by_api', exitCode: 0 },
  ]);
  expect(fixture.asked.stopped.filter((order) => order.workflowId === workflowId)).toHaveLength(3);
  expect((await call(`${path}/interrupt`, { body: { graceSeconds: 1 } })).status).toBe(400);
});

test('the first cause is final', async () => {
  const { runId, path } = await newRun();
  await fixture.stores.runs.recordCause({ runId, cause: 'timed_out', detail: null });
  await call(`${path}/stop`, { body: {} });
  await call(path, { method: 'DELETE' });
  const { run } = await fixture.stores.runs.endRun({
    runId,
    cause: 'exited',
    detail: null,
    exitCode: 1,
  });
  expect(run.endCause).toBe('timed_out');
});

test.each([
  [0, 200],
  [60, 200],
  [61, 400],
  [-1, 400],
  ['5', 400],
  [null, 400],
])('answers a grace period of %j seconds with %i', async (graceSeconds, status) => {
  const { path } = await newRun();
  expect((await call(`${path}/stop`, { body: { graceSeconds } })).status).toBe(status);
});

test('stop answers 200 while Temporal is unreachable, or without the workflow', async () => {
  const { runId, path } = await newRun();
  const away = await fixture.start({ stopRun: () => Promise.reject(new Error('away')) });
  const hanging = await fixture.start({ stopRun: () => new Promise(() => {}) });
  const broken = await fixture.start({
    stopRun: () => {
      throw new Error('broken');
    },
  });
  for (const process of [away, hanging, broken]) {
    const answer = await caller(process, tenant.key)(`${path}/stop`, { body: {} });
    expect([answer.status, answer.json.data.stopping]).toEqual([200, true]);
  }
  expect((await fixture.stores.runs.find(runId))?.endCause).toBe('stopped_by_api');
});

test('one of ten concurrent deletions deletes the run', async () => {
  const { runId, workflowId, path } = await newRun();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call(path, { method: 'DELETE' })),
  );
  const done = answers.filter(({ status }) => status === 200);
  expect(done).toHaveLength(1);
  expect(done[0]?.json).toEqual({ data: { runId, deleted: true } });
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  expect(fixture.asked.stopped.filter((order) => order.workflowId === workflowId)).toEqual([
    { workflowId, graceMs: 0 },
  ]);
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/stream'],
    ['GET', '/logs'],
    ['GET', '/files'],
    ['GET', '/files/a'],
    ['POST', '/stop'],
    ['POST', '/interrupt'],
    ['DELETE', ''],
  ] as const) {
    expect((await call(`${path}${rest}`, { method })).status, `${method} ${rest}`).toBe(404);
  }
  expect((await fixture.stores.runs.find(runId))?.endCause).toBe('deleted_by_api');
});

test('deleting an ended run sends no signal', async () => {
  const { runId, workflowId, path } = await newRun();
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  const read = await call(path);
  expect(read.json.data).toMatchObject({ status: 'sleep', exitCode: 0 });
  expect(read.json.data).not.toHaveProperty('error');
  expect((await call(path, { method: 'DELETE' })).status).toBe(200);
  expect(fixture.asked.stopped.filter((order) => order.workflowId === workflowId)).toEqual([]);
});

test("the record contains the agent's result, and usage and cost from the ledger", async () => {
  const turn = { result: 'Done', numTurns: 2 };
  const { runId, path } = await newRun();
  const ledger = createLedgerStore(fixture.database.pool);
  await ledger.record(runId, [ledgerEntry({ costNanos: 250_000_400 })]);
  const lease = await fixture.stores.frames.takeLease(runId, 'test', 60_000);
  await fixture.stores.frames.append({
    runId,
    token: lease?.token ?? 0,
    generation: 1,
    fromOffset: 0,
    toOffset: 1,
    frames: [],
    facts: {
      agentStatus: 'idle',
      turn: { ...turn, structuredOutput: '{"n":[1,null]}' },
    },
  });
  expect((await call(path)).json.data).toMatchObject({
    agentStatus: 'idle',
    ...turn,
    structuredOutput: { n: [1, null] },
    usage: {
      ...{ inputTokens: 100, outputTokens: 10 },
      ...{ cacheReadInputTokens: 50, cacheCreationInputTokens: 7 },
    },
    costUsd: 0.25,
  });
  await ledger.record(runId, [ledgerEntry({ price: null, costNanos: null })]);
  expect((await call(path)).json.data).toMatchObject({
    usage: { inputTokens: 200 },
    costUsd: null,
  });
});
