// Clients are answered once Postgres has their run or message. The calls to Temporal follow.

import { expect, test } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import type { Run } from '../../../core/runs/run.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';
import { createReconcileStore } from '../../../systems/postgres/maintenance/reconcile-store.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, tenant } = useTenant();
const runsPath = () => `/api/v1/flows/${tenant.flowId}/runs`;
const chatPath = () => `/api/v1/flows/${tenant.flowId}/chat`;
const go = { body: { prompt: 'Go' } };
const completed = { cause: 'completed', detail: null, exitCode: 0 } as const;

/** A process whose starts and signals of messages wait until they are released. */
async function startSlow(overrides: Partial<ApiDeps> = {}) {
  const released = createDeferred<true>();
  const made: string[] = [];
  const stopped: Pick<Run, 'runId' | 'workflowStartedAt'>[] = [];
  const api = await fixture.start({
    startRun: async ({ runId }) => {
      made.push(runId);
      await released.promise;
      return 'started';
    },
    signalMessage: async (_run, messageId) => {
      made.push(messageId);
      await released.promise;
      return 'signalled';
    },
    stopRun: async ({ runId, workflowStartedAt }) => {
      stopped.push({ runId, workflowStartedAt });
      return 'signalled';
    },
    ...overrides,
  });
  return {
    api,
    call: caller(api, tenant.key),
    made,
    stopped,
    release: () => released.resolve(true),
  };
}

const startedAt = async (runId: string) =>
  (await fixture.stores.runs.find(runId))?.workflowStartedAt;

test('a client is answered before the workflow is started or signalled', async () => {
  const { api, call, made, release } = await startSlow();
  const began = performance.now();
  const ids: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    const triggered = await call(runsPath(), go);
    expect(triggered.status).toBe(201);
    const sent = await call(chatPath(), { body: { message: 'Hello' } });
    expect(sent.status).toBe(202);
    ids.push(triggered.json.data.runId, sent.json.data.runId, sent.json.data.messageId);
  }
  // Each answer would otherwise wait for two seconds.
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(made).toEqual(ids);
  expect(await startedAt(ids[0] ?? '')).toBeNull();
  release();
  await expect.poll(() => startedAt(ids[0] ?? '')).toBeInstanceOf(Date);
  await expect.poll(() => fixture.stores.messages.unsignalled(0)).toEqual([]);
  await api.close();
});

test('a run is stopped, deleted and retried while its workflow is started', async () => {
  const { api, call, made, stopped, release } = await startSlow();
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => call(runsPath(), go)));
  const idOf = (answer: typeof first): string => answer?.json.data.runId;
  const stop = await call(`/api/v1/runs/${idOf(first)}/stop`, { body: {} });
  expect([stop.status, stop.json.data.stopping]).toEqual([200, true]);
  const deleted = await call(`/api/v1/runs/${idOf(second)}`, { method: 'DELETE' });
  expect(deleted.status).toBe(200);
  await fixture.stores.runs.endRun({ runId: idOf(third), ...completed });
  const retried = await call(`/api/v1/runs/${idOf(third)}/retry`, { body: {} });
  expect([retried.status, retried.json.data.retryOf]).toEqual([201, idOf(third)]);
  // A start in flight may not have reached Temporal, so the stop starts the workflow if necessary.
  expect(stopped).toEqual(
    [first, second].map((answer) => ({ runId: idOf(answer), workflowStartedAt: null })),
  );
  expect(made).toHaveLength(4);
  release();
  await api.close();
});

test('a session is ended while its workflow is started', async () => {
  const { api, call, stopped, release } = await startSlow();
  const { sessionId, runId } = (await call(chatPath(), { body: { message: 'Hello' } })).json.data;
  const path = `/api/v1/flows/${tenant.flowId}/sessions/${sessionId}`;
  expect((await call(path, { method: 'DELETE' })).status).toBe(200);
  expect(stopped).toEqual([{ runId, workflowStartedAt: null }]);
  const late = await call(chatPath(), { body: { message: 'Late', sessionId } });
  expect(late.status).toBe(404);
  release();
  await api.close();
});

test('calls beyond the limit are left to the reconciler', async () => {
  const { api, call, made, release } = await startSlow({ workflowCallsMax: 2 });
  const triggered = [];
  for (let n = 0; n < 3; n += 1) triggered.push(await call(runsPath(), go));
  expect(triggered.map(({ status }) => status)).toEqual([201, 201, 201]);
  const runIds = triggered.map(({ json }) => json.data.runId as string);
  expect(made).toEqual(runIds.slice(0, 2));
  const deferred = api.log().split('"msg":"workflow_start_deferred"');
  expect(deferred).toHaveLength(2);
  expect(deferred[0]).toContain('"inFlightMax":2');
  release();
  for (const runId of runIds.slice(0, 2))
    await expect.poll(() => startedAt(runId)).toBeInstanceOf(Date);
  const unstarted = await createReconcileStore(fixture.database.pool).unstarted(0);
  const found = unstarted.map(({ runId }) => runId);
  expect(found).toContain(runIds[2]);
  expect(found).not.toContain(runIds[0]);
  const last = await call(runsPath(), go);
  expect(made).toEqual([...runIds.slice(0, 2), last.json.data.runId]);
  await api.close();
});

test('a process that stops waits for calls in flight and records them', async () => {
  const { api, call, release } = await startSlow();
  const { runId } = (await call(runsPath(), go)).json.data;
  const closing = api.close();
  release();
  await closing;
  expect(await startedAt(runId)).toBeInstanceOf(Date);
});

test('a mark whose row is locked is written later, and no other waits for it', async () => {
  const { api, call, release } = await startSlow();
  const [locked, free] = [await call(runsPath(), go), await call(runsPath(), go)];
  const client = await fixture.database.pool.connect();
  try {
    await client.query('begin');
    await client.query('select from runs where id = $1 for update', [locked.json.data.runId]);
    release();
    await expect.poll(() => startedAt(free.json.data.runId)).toBeInstanceOf(Date);
    expect(await startedAt(locked.json.data.runId)).toBeNull();
    await client.query('commit');
  } finally {
    client.release();
  }
  await expect.poll(() => startedAt(locked.json.data.runId)).toBeInstanceOf(Date);
  await api.close();
});
