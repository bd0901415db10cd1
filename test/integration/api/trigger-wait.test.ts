import { beforeAll, expect, test } from 'vitest';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, tenant, call } = useTenant();
let runs: string;

beforeAll(async () => {
  runs = `/api/v1/flows/${tenant.flowId}/runs`;
});

const triggerAndWait = async (query: string, headers: Record<string, string> = {}) => {
  const began = performance.now();
  const answer = await call(`${runs}${query}`, { body: { prompt: 'Go' }, headers });
  return { ...answer, tookMs: performance.now() - began };
};
const latest = async (): Promise<string> => {
  const { rows } = await fixture.database.pool.query<{ id: string }>(
    'select id from runs where project_id = $1 order by created_at desc, id limit 1',
    [tenant.projectId],
  );
  return rows[0]?.id ?? '';
};
const end = (runId: string) =>
  fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });

/** Far below the longest wait, and enough for a busy machine. */
const unhurriedMs = 30_000;

test('is from 0 to 60 seconds', async () => {
  for (const bad of ['-1', '61', '1.5', 'x', '']) {
    expect((await triggerAndWait(`?wait=${bad}`)).status, bad).toBe(400);
  }
  const { status, tookMs } = await triggerAndWait('?wait=0');
  expect(status).toBe(201);
  expect(tookMs).toBeLessThan(unhurriedMs);
});

test('answers at the timeout with the current run', async () => {
  const { status, json, tookMs } = await triggerAndWait('?wait=1');
  expect([status, json.data.status, json.data.finishedAt]).toEqual([201, 'running', null]);
  expect(tookMs).toBeGreaterThan(990);
  expect(tookMs).toBeLessThan(unhurriedMs);
});

test('answers when the run has ended, with or without a notification, also for a replay', async () => {
  const waiting = triggerAndWait('?wait=60', { 'idempotency-key': 'wait' });
  const admitted = async () => {
    const { rows } = await fixture.database.pool.query<{ run_id: string }>(
      "select run_id from idempotency_keys where key = 'wait'",
    );
    return rows[0]?.run_id ?? '';
  };
  await expect.poll(admitted).not.toBe('');
  const runId = await admitted();
  const replay = triggerAndWait('?wait=60', { 'idempotency-key': 'wait' });
  await end(runId);
  await fixture.frameStream.notify(runId);
  const answers = await Promise.all([waiting, replay]);
  expect(answers.map(({ status }) => status)).toEqual([201, 200]);
  for (const { json } of answers) {
    expect(json.data).toMatchObject({ runId, status: 'sleep', exitCode: 0 });
    expect(json.data.finishedAt).not.toBeNull();
  }
});

test('answers at a notification, without waiting for the next poll', async () => {
  const { frames } = fixture.stores;
  let isWoken = false;
  const own = await fixture.start({
    frameStream: {
      ...fixture.frameStream,
      subscribe: (runId, onWake) =>
        fixture.frameStream.subscribe(runId, (wake) => {
          isWoken = true;
          onWake(wake);
          isWoken = false;
        }),
    },
    frames: {
      ...frames,
      // A poll without a notification finds that nothing has ended.
      progressOfRuns: async (runIds) => {
        if (isWoken) return frames.progressOfRuns(runIds);
        const found = [...(await frames.progressOfRuns(runIds))];
        return new Map(found.map(([runId, state]) => [runId, { ...state, endedAt: null }]));
      },
    },
  });
  const waiting = caller(own, tenant.key)(`${runs}?wait=60`, { body: { prompt: 'Go' } });
  let runStatus = '';
  void waiting.then(({ json }) => (runStatus = json.data.status));
  await expect.poll(() => own.log()).toContain('run_admitted');
  const runId = await latest();
  await end(runId);
  // A notification without a subscriber is lost.
  const woken = () => fixture.frameStream.notify(runId).then(() => runStatus);
  await expect.poll(woken).toBe('sleep');
});

test('answers soon without a notification', async () => {
  const withoutNotifications = { ...fixture.frameStream, subscribe: () => () => undefined };
  const own = await fixture.start({ frameStream: withoutNotifications });
  const unwoken = caller(own, tenant.key)(`${runs}?wait=60`, { body: { prompt: 'Go' } });
  await expect.poll(() => own.log()).toContain('run_admitted');
  const began = performance.now();
  await end(await latest());
  expect((await unwoken).json.data.status).toBe('sleep');
  expect(performance.now() - began).toBeLessThan(unhurriedMs);
});

test('ends with the process, which answers first', async () => {
  const own = await fixture.start();
  const answer = caller(own, tenant.key)(`${runs}?wait=60`, { body: { prompt: 'Go' } });
  await expect.poll(() => own.log()).toContain('run_admitted');
  await own.close();
  expect((await answer).status).toBe(201);
});
