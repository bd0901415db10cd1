import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const schedule = { cron: '0 9 * * *', timezone: 'UTC' };

async function scheduled() {
  const { projectId } = tenant;
  const { flowId } = await fixture.stores.flows.create({
    ...{ projectId, name: 'Daily', prompt: 'Go', schedule },
  });
  return { flowId, flow: `/api/projects/${projectId}/flows/${flowId}` };
}

test('a schedule has its next starts, and its latest ones with their runs', async () => {
  const { flowId, flow } = await scheduled();
  const empty = { nextStarts: [], starts: [], skippedStarts: 0, pausedAt: null };
  expect((await operator(`${flow}/schedule`)).json.data).toEqual({ flowId, ...schedule, ...empty });
  const at = (day: number) => new Date(Date.UTC(2026, 10, day, 9));
  const [runId, rejected] = [randomUUID(), randomUUID()];
  const record = fixture.stores.schedules.recordStart;
  await record({ flowId, runId, scheduledAt: at(1), rejectedCode: null });
  const rejectedCode = 'CONCURRENT_LIMIT';
  await record({ flowId, runId: rejected, scheduledAt: at(2), rejectedCode });
  const times = { next: [at(4), at(5)], waiting: [at(2), at(3)], skippedStarts: 7 };
  const own = await fixture.start({ readScheduleTimes: async () => times });
  const read = await (await signedIn(fixture, own))(`${flow}/schedule`);
  expect([read.status, read.json.data]).toMatchObject([
    200,
    {
      nextStarts: [at(4).toISOString(), at(5).toISOString()],
      starts: [
        { scheduledAt: at(3).toISOString(), outcome: 'waiting', decidedAt: null, runId: null },
        { scheduledAt: at(2).toISOString(), outcome: 'missed', code: rejectedCode, runId: null },
        { scheduledAt: at(1).toISOString(), outcome: 'started', code: null, runId },
      ],
      skippedStarts: 7,
    },
  ]);
});

test('a schedule is paused and resumed without Temporal, and each change is recorded once', async () => {
  const { flowId, flow } = await scheduled();
  const own = await fixture.start({ readScheduleTimes: () => Promise.reject(new Error('away')) });
  const client = await signedIn(fixture, own);
  const read = await client(`${flow}/schedule`);
  expect([read.status, read.json.error.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
  const set = async (verb: string) =>
    (await client(`${flow}/schedule/${verb}`, { method: 'POST' })).json.data.schedulePausedAt;
  const pausedAt = await set('pause');
  expect(Date.parse(pausedAt)).toBeGreaterThan(0);
  expect(await set('pause')).toBe(pausedAt);
  expect((await operator(flow)).json.data).toMatchObject({
    schedulePausedAt: pausedAt,
    version: 1,
  });
  expect((await operator(`${flow}/schedule`)).json.data).toMatchObject({ pausedAt });
  expect(await set('resume')).toBeNull();
  expect(await set('resume')).toBeNull();
  const entries = (await operator(`/api/audit?projectId=${tenant.projectId}`)).json.data;
  const actions = entries
    .filter(({ objectId }: { objectId: string }) => objectId === flowId)
    .map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['schedule_resumed', 'schedule_paused']);
});

test('a paused schedule has no next start', async () => {
  const { flow } = await scheduled();
  const times = { next: [new Date()], waiting: [], skippedStarts: 0 };
  const client = await signedIn(
    fixture,
    await fixture.start({ readScheduleTimes: async () => times }),
  );
  const next = async () => (await client(`${flow}/schedule`)).json.data.nextStarts.length;
  expect(await next()).toBe(1);
  await client(`${flow}/schedule/pause`, { method: 'POST' });
  expect(await next()).toBe(0);
});

test('a flow without a schedule, or of another project, is 404', async () => {
  const other = await fixture.tenant();
  for (const flowId of [tenant.flowId, other.flowId]) {
    const path = `/api/projects/${tenant.projectId}/flows/${flowId}/schedule`;
    expect((await operator(path)).status).toBe(404);
    for (const verb of ['pause', 'resume'])
      expect((await operator(`${path}/${verb}`, { method: 'POST' })).status).toBe(404);
  }
});

test('an operator starts a run of a flow while its schedule is paused', async () => {
  const { flow } = await scheduled();
  await operator(`${flow}/schedule/pause`, { method: 'POST' });
  const started = await operator(`${flow}/runs`, { body: {} });
  expect([started.status, started.json.data.triggerType]).toEqual([201, 'dashboard']);
  const key = await caller(api, tenant.key)(`${flow}/schedule`);
  expect(key.status).toBe(401);
});
