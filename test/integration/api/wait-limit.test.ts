import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { Tenant } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();
const { perKey, perProject } = limits.http.waits;

const runsOf = ({ flowId }: Pick<Tenant, 'flowId'>) => `/api/v1/flows/${flowId}/runs`;

/** Requests of a key that wait for one run; they return when the run has ended. */
function waits({ flowId, key }: Tenant, count: number): Promise<Answer[]> {
  const options = { body: { prompt: 'Go' }, headers: { 'idempotency-key': 'one-run' } };
  const path = `${runsOf({ flowId })}?wait=60`;
  return Promise.all(Array.from({ length: count }, () => caller(api, key)(path, options)));
}

async function endRuns({ projectId }: Tenant): Promise<void> {
  const text = 'select id from runs where project_id = $1 and ended_at is null';
  const { rows } = await fixture.database.pool.query<{ id: string }>(text, [projectId]);
  for (const { id: runId } of rows) {
    await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    await fixture.frameStream.notify(runId);
  }
}

/** Each of them has passed the limit before. */
const countDecided = ({ projectId }: Tenant): number =>
  api
    .log()
    .split('\n')
    .filter((line) => line.includes(projectId) && /"run_(admitted|replayed)"/.test(line)).length;

const countRuns = async ({ projectId }: Tenant): Promise<number> => {
  const text = 'select count(*)::int as n from runs where project_id = $1';
  return (await fixture.database.pool.query<{ n: number }>(text, [projectId])).rows[0]?.n ?? 0;
};

test('rejects one more waiting request of a key than its limit, and starts nothing', async () => {
  const tenant = await fixture.tenant();
  const ask = caller(api, tenant.key);
  const waiting = waits(tenant, perKey);
  const probe = () => ask(`${runsOf(tenant)}?wait=1`, { body: { prompt: 'Go' } });
  await expect.poll(() => countDecided(tenant)).toBe(perKey);
  const before = await countRuns(tenant);

  const error = { code: 'WAIT_LIMIT', limit: perKey, current: perKey };
  const message = { message: 'Hello', stream: false };
  const chat = `/api/v1/flows/${tenant.flowId}/chat`;
  for (const refused of [await probe(), await ask(chat, { body: message })]) {
    expect(refused.status).toBe(429);
    expect(refused.json.error).toMatchObject(error);
  }
  expect(await countRuns(tenant)).toBe(before);
  expect((await ask(runsOf(tenant), { body: { prompt: 'Go' } })).status).toBe(201);

  await endRuns(tenant);
  const statuses = (await waiting).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toEqual([]);
  await expect.poll(async () => (await probe()).status).toBe(201);
});

test('rejects one more waiting request of a project than its limit, and none of another', async () => {
  const tenant = await fixture.tenant();
  const { projectId } = tenant;
  const named = { projectId, name: 'further', createdBy: 'ana', rateLimitRpm: 10_000 };
  const made = Array.from({ length: perProject / perKey }, () => fixture.stores.keys.create(named));
  const [, ...others] = (await Promise.all(made)).map(({ key }) => key);
  const waiting = [tenant.key, ...others].map((key) => waits({ ...tenant, key }, perKey));
  const { key } = await fixture.stores.keys.create(named);
  const options = { body: { prompt: 'Go' }, headers: { 'idempotency-key': randomUUID() } };
  const probe = () => caller(api, key)(`${runsOf(tenant)}?wait=1`, options);
  await expect.poll(() => countDecided(tenant)).toBe(perProject);
  const { status, json } = await probe();
  expect(status).toBe(429);
  expect(json.error).toMatchObject({ code: 'WAIT_LIMIT', limit: perProject, current: perProject });

  const foreign = await fixture.tenant();
  const answer = await caller(api, foreign.key)(`${runsOf(foreign)}?wait=1`, options);
  expect(answer.status).toBe(201);
  await endRuns(tenant);
  await Promise.all(waiting);
});
