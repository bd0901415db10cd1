import { beforeAll, expect, test } from 'vitest';
import { type ApiProcess, publicUrl } from '../../support/api-fixture.ts';
import { caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();
let other: ApiProcess;

beforeAll(async () => {
  other = await fixture.start();
});

test('answers 201 with the run record and its URL, and starts the workflow', async () => {
  const tenant = await fixture.tenant();
  const answer = await caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Say hello', name: 'Nightly', labels: { team: 'core', 'a.b-c_d': '' } },
  });
  expect(answer.status).toBe(201);
  const run = answer.json.data;
  expect(answer.headers.get('location')).toBe(`/api/v1/runs/${run.runId}`);
  expect(answer.headers.has('idempotency-replayed')).toBe(false);
  expect(run).toEqual({
    runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    flowId: tenant.flowId,
    projectId: tenant.projectId,
    name: 'Nightly',
    labels: { team: 'core', 'a.b-c_d': '' },
    status: 'running',
    agentStatus: null,
    triggerType: 'api',
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    startedAt: null,
    finishedAt: null,
    sessionId: null,
    streamUrl: `${publicUrl}/api/v1/runs/${run.runId}/stream`,
    exitCode: null,
    result: null,
    structuredOutput: null,
    usage: {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
    },
    costUsd: null,
    numTurns: 0,
    createdBy: { keyName: 'ci', createdBy: 'ana' },
    webhook: { state: 'none', attempts: 0, lastStatus: null },
    mcpServerNames: [],
    retryOf: null,
    flowVersion: 1,
    parentRunId: null,
    rootRunId: null,
    depth: 0,
  });
  expect(fixture.asked.started).toContain(`run/${run.runId}`);
  await expect
    .poll(async () => (await fixture.stores.runs.find(run.runId))?.workflowStartedAt)
    .toBeInstanceOf(Date);
});

test('reads the run back with its prompt', async () => {
  const tenant = await fixture.tenant();
  const call = caller(api, tenant.key);
  const { json } = await call(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Ünï\n"' },
  });
  const read = await call(`/api/v1/runs/${json.data.runId}`);
  expect(read.status).toBe(200);
  expect(read.json.data).toMatchObject({ ...json.data, prompt: 'Ünï\n"' });
});

test("uses the flow's prompt by default, and answers 400 without any", async () => {
  const prompted = await fixture.tenant({ flow: { prompt: 'As every day' } });
  const made = await caller(api, prompted.key)(`/api/v1/flows/${prompted.flowId}/runs`, {
    method: 'POST',
  });
  expect(made.status).toBe(201);
  expect((await fixture.stores.runs.find(made.json.data.runId))?.prompt).toBe('As every day');

  const bare = await fixture.tenant();
  const refused = await caller(api, bare.key)(`/api/v1/flows/${bare.flowId}/runs`, { body: {} });
  expect(refused.status).toBe(400);
  expect(refused.json.error).toMatchObject({ code: 'VALIDATION_ERROR' });
});

test('creates one run for a hundred concurrent calls with one idempotency key', async () => {
  const tenant = await fixture.tenant();
  const calls = Array.from({ length: 100 }, (_, i) =>
    caller(i % 2 === 0 ? api : other, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
      body: { prompt: `Number ${i}`, labels: { n: String(i) } },
      headers: { 'idempotency-key': 'only-once' },
    }),
  );
  const answers = await Promise.all(calls);
  const made = answers.filter(({ status }) => status === 201);
  const replayed = answers.filter(({ status }) => status === 200);
  expect([made.length, replayed.length]).toEqual([1, 99]);
  expect(new Set(answers.map(({ json }) => json.data.runId)).size).toBe(1);
  expect(replayed.every(({ json }) => json.data.labels.n === made[0]?.json.data.labels.n)).toBe(
    true,
  );
  expect(replayed.every(({ headers }) => headers.get('idempotency-replayed') === 'true')).toBe(
    true,
  );
  expect(made[0]?.headers.has('idempotency-replayed')).toBe(false);
});

test('takes the idempotency key by header, by field, or by both if they agree', async () => {
  const tenant = await fixture.tenant();
  const trigger = (key: string | undefined, idempotencyKey: string | undefined) =>
    caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
      body: { prompt: 'Go', idempotencyKey },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const first = await trigger('order-7', undefined);
  expect(first.status).toBe(201);
  for (const again of [await trigger(undefined, 'order-7'), await trigger('order-7', 'order-7')]) {
    expect(again.status).toBe(200);
    expect(again.json.data.runId).toBe(first.json.data.runId);
  }
  expect((await trigger('order-7', 'order-8')).status).toBe(400);
  expect((await trigger(undefined, 'k'.repeat(255))).status).toBe(201);
  for (const bad of ['', 'with space', 'k'.repeat(256), 'ü', 'a\u0000b']) {
    expect((await trigger(undefined, bad)).status, JSON.stringify(bad)).toBe(400);
  }
});

test('a replay of a deleted run returns its remaining fields', async () => {
  const tenant = await fixture.tenant();
  const call = caller(api, tenant.key);
  const trigger = () =>
    call(`/api/v1/flows/${tenant.flowId}/runs`, {
      body: { prompt: 'Go', labels: { a: 'b' } },
      headers: { 'idempotency-key': 'gone' },
    });
  const { runId, createdAt } = (await trigger()).json.data;
  await call(`/api/v1/runs/${runId}`, { method: 'DELETE' });
  const replay = await trigger();
  expect(replay.status).toBe(200);
  expect(replay.json).toEqual({
    data: {
      runId,
      flowId: tenant.flowId,
      projectId: tenant.projectId,
      labels: { a: 'b' },
      createdAt,
      status: 'running',
      deleted: true,
    },
  });
});

test('answers 201 in time while Temporal is unreachable', async () => {
  const lost = await fixture.start({ startRun: () => new Promise(() => {}) });
  const failing = await fixture.start({ startRun: () => Promise.reject(new Error('away')) });
  const tenant = await fixture.tenant();
  for (const process of [lost, failing]) {
    const began = performance.now();
    const answer = await caller(process, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
      body: { prompt: 'Go' },
    });
    expect(answer.status).toBe(201);
    expect(performance.now() - began).toBeLessThan(20_000);
    const run = await fixture.stores.runs.find(answer.json.data.runId);
    expect(run?.workflowStartedAt).toBeNull();
  }
});
