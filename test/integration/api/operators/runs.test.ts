import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { publicUrl, type Tenant } from '../../../support/api-fixture.ts';
import { claimNext } from '../../../support/claim-next.ts';
import { attemptsAge } from '../../systems/postgres/attempts-age.ts';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api, 'olga');
});

const trigger = async (tenant: Tenant, body: object = {}, headers: Record<string, string> = {}) => {
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  const made = await caller(api, tenant.key)(path, { body: { prompt: 'Go', ...body }, headers });
  expect(made.status, made.text).toBe(201);
  return made.json.data;
};
const runsOf = ({ projectId }: Tenant) => `/api/projects/${projectId}/runs`;

test('runs are listed like for clients: filtered, latest first, page by page', async () => {
  const tenant = await fixture.tenant();
  const made = [];
  for (const order of ['1', '2', '3']) made.push(await trigger(tenant, { labels: { order } }));
  const ids = made.map(({ runId }) => runId).reverse();
  const first = await operator(`${runsOf(tenant)}?limit=2`);
  expect(first.json.data.map((run: { runId: string }) => run.runId)).toEqual(ids.slice(0, 2));
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  expect(next.startsWith(`${publicUrl}${runsOf(tenant)}?`)).toBe(true);
  const second = await operator(next.replace(publicUrl, ''));
  expect(second.json.data).toMatchObject([{ runId: ids[2] }]);
  const filtered = await operator(`${runsOf(tenant)}?label=order:2&triggerType=api`);
  expect(filtered.json.data).toMatchObject([{ runId: ids[1] }]);
  expect((await operator(runsOf(await fixture.tenant()))).json.data).toEqual([]);
});

test('a run includes fields hidden from clients: its context, its workflow, its webhook’s attempts', async () => {
  const tenant = await fixture.tenant();
  const made = await trigger(
    tenant,
    { callbackUrl: 'https://example.com/' },
    { 'x-ctx-user': 'canary-user' },
  );
  const path = `${runsOf(tenant)}/${made.runId}`;
  const read = (await operator(path)).json.data;
  expect(read).toMatchObject({
    ...{ runId: made.runId, prompt: 'Go', context: { user: 'canary-user' }, webhookAttempts: [] },
    workflowId: `run/${made.runId}`,
  });
  const asClient = await caller(api, tenant.key)(`/api/v1/runs/${made.runId}`);
  expect(asClient.text).not.toContain('canary-user');

  const { runId } = made;
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  await claimNext(fixture.stores.webhooks, runId);
  await fixture.stores.webhooks.recordAttempt(runId, 1, { status: null, error: 'refused' });
  await attemptsAge(fixture.database, 2_000);
  await claimNext(fixture.stores.webhooks, runId);
  expect((await operator(path)).json.data).toMatchObject({
    context: { user: 'canary-user' },
    webhookAttempts: [
      {
        ...{ delivery: 0, attempt: 1, status: null, error: 'refused' },
        finishedAt: expect.any(String),
      },
      { ...{ delivery: 0, attempt: 2, status: null, error: null }, finishedAt: null },
    ],
  });
});

test('a session has the context that it was opened with, also if a message has opened it', async () => {
  const tenant = await fixture.tenant();
  const headers = { 'x-ctx-user': 'canary-user' };
  const opened = async (path: string, body: object) =>
    (await caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/${path}`, { body, headers }))
      .json.data;
  for (const { runId } of [await opened('sessions', {}), await opened('chat', { message: 'Hi' })]) {
    const read = await operator(`${runsOf(tenant)}/${runId}`);
    expect(read.json.data).toMatchObject({ runId, context: { user: 'canary-user' } });
  }
});

test('a run of an operator has that trigger, passes the limits, and is not in the monthly quota', async () => {
  const tenant = await fixture.tenant({
    ...{ maxConcurrentRuns: 1, monthlyRunQuota: 0 },
    flow: { prompt: 'The flow’s own' },
  });
  const path = `/api/projects/${tenant.projectId}/flows/${tenant.flowId}/runs`;
  const made = await operator(path, { body: { labels: { by: 'hand' } } });
  expect(made.status, made.text).toBe(201);
  expect(made.json.data).toMatchObject({
    ...{ triggerType: 'dashboard', labels: { by: 'hand' } },
    createdBy: { keyName: 'dashboard', createdBy: 'olga' },
  });
  expect(fixture.asked.started).toContain(`run/${made.json.data.runId}`);
  const full = await operator(path, { body: {} });
  expect([full.status, full.json.error]).toMatchObject([
    429,
    { code: 'CONCURRENT_LIMIT', limit: 1, current: 1 },
  ]);
  const usage = await operator(`/api/projects/${tenant.projectId}/usage`);
  expect(usage.json.data).toMatchObject({ monthlyRuns: 0, concurrentRuns: 1 });
  const wrong = await operator(path, { body: { env: { PATH: '/' } } });
  expect([wrong.status, wrong.json.error.message]).toEqual([
    400,
    expect.stringContaining('body.env.PATH'),
  ]);
});

test('redelivers a finished webhook on request, each time as a separate delivery', async () => {
  const tenant = await fixture.tenant();
  const { runId } = await trigger(tenant, { callbackUrl: 'https://example.com/' });
  const redeliver = (id: string) =>
    operator(`${runsOf(tenant)}/${id}/webhook/redeliver`, { method: 'POST' });
  const early = await redeliver(runId);
  expect([early.status, early.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  expect((await redeliver(runId)).status).toBe(400);
  await fixture.stores.webhooks.drop(runId);
  for (const delivery of [1, 2]) {
    const answer = await redeliver(runId);
    expect([answer.status, answer.json.data]).toEqual([202, { runId, delivery }]);
    expect(fixture.asked.redelivered.at(-1)).toEqual({ runId, firstAttempt: 1, delivery });
  }
  const quiet = await trigger(tenant);
  expect((await redeliver(quiet.runId)).status).toBe(400);
  expect((await redeliver(randomUUID())).status).toBe(404);
});

test('a redelivery that cannot be started is accepted, and left to a worker', async () => {
  const away = await fixture.start({
    startWebhook: () => Promise.reject(new Error('Temporal cannot be reached')),
  });
  const tenant = await fixture.tenant();
  const { runId } = await trigger(tenant, { callbackUrl: 'https://example.com/' });
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  await fixture.stores.webhooks.drop(runId);
  const answer = await (await signedIn(fixture, away))(
    `${runsOf(tenant)}/${runId}/webhook/redeliver`,
    { method: 'POST' },
  );
  expect([answer.status, answer.json.data]).toEqual([202, { runId, delivery: 1 }]);
  const { pool } = fixture.database;
  const waiting = await createReconcileStore(pool).pendingWebhooks(-1_000);
  const mine = waiting.filter((one) => one.runId === runId);
  expect(mine).toMatchObject([{ redelivery: 1, isDue: true }]);
});

test('runs of another project and deleted runs are 404', async () => {
  const [mine, other] = [await fixture.tenant(), await fixture.tenant()];
  const { runId } = await trigger(other);
  expect((await operator(`${runsOf(mine)}/${runId}`)).status).toBe(404);
  expect((await operator(`${runsOf(other)}/${runId}`)).status).toBe(200);
  await fixture.stores.runs.markDeleted(runId);
  expect((await operator(`${runsOf(other)}/${runId}`)).status).toBe(404);
});
