// The limit of a project's open sessions, over two processes of the API.

import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { ApiProcess, Tenant } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, chatOf, sessionsOf } = useSessions();
let other: ApiProcess;
beforeAll(async () => {
  other = await fixture.start();
});

const openAt = (process: ApiProcess, of: Tenant, body: object = {}): Promise<Answer> =>
  caller(process, of.key)(sessionsOf(of), { body });

const openAtOnce = (of: Tenant, times: number, body: object = {}) =>
  Promise.all(Array.from({ length: times }, (_, n) => openAt(n % 2 ? api : other, of, body)));

const endSession = (runId: string) =>
  fixture.stores.runs.endRun({ runId, cause: 'stopped_by_api', detail: null, exitCode: null });

async function storedRuns({ projectId }: Tenant): Promise<number> {
  const text = 'select count(*)::int as n from runs where project_id = $1';
  return (await fixture.database.pool.query(text, [projectId])).rows[0].n;
}

const atLimit = (limit: number) => [
  429,
  { error: { code: 'SESSION_LIMIT', message: expect.any(String), limit, current: limit } },
];

test('of 60 concurrent openings over two processes, exactly as many succeed as the project may have', async () => {
  const tenant = await fixture.tenant({ maxOpenSessions: 7 });
  const answers = await openAtOnce(tenant, 60);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(7);
  const rejected = answers.filter(({ status }) => status !== 201);
  for (const { status, json } of rejected) expect([status, json]).toEqual(atLimit(7));
  expect(await storedRuns(tenant)).toBe(7);
});

test('the limit holds at every moment while sessions are opened and ended', async () => {
  const tenant = await fixture.tenant({ maxOpenSessions: 3 });
  const text = 'select count(*)::int as n from runs where project_id = $1 and ended_at is null';
  const seen: number[] = [];
  const churn = Array.from({ length: 8 }, async (_, n) => {
    for (let i = 0; i < 10; i += 1) {
      const { status, json } = await openAt(n % 2 ? api : other, tenant);
      seen.push((await fixture.database.pool.query(text, [tenant.projectId])).rows[0].n);
      if (status === 201) await Promise.all([1, 2].map(() => endSession(json.data.runId)));
    }
  });
  await Promise.all(churn);
  expect(Math.max(...seen)).toBeLessThanOrEqual(3);
  const answers = await openAtOnce(tenant, 10);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
});

test('concurrent openings of one session find it, even if it is the last one of the project', async () => {
  const tenant = await fixture.tenant({ maxOpenSessions: 1 });
  const answers = await openAtOnce(tenant, 20, { sessionId: 'the-only-one' });
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ json }) => json.data.runId)).size).toBe(1);
  expect(await storedRuns(tenant)).toBe(1);
  const { status, json } = await openAt(api, tenant, { sessionId: 'another' });
  expect([status, json]).toEqual(atLimit(1));
});

test('an ended session is not counted, and one of another project neither', async () => {
  const [tenant, neighbour] = await Promise.all(
    [0, 1].map(() => fixture.tenant({ maxOpenSessions: 2 })),
  );
  if (!tenant || !neighbour) throw new Error('no tenants');
  await openAt(api, tenant);
  const { runId } = (await openAt(api, tenant)).json.data;
  expect((await openAt(api, tenant)).status).toBe(429);
  expect((await openAt(api, neighbour)).status).toBe(201);
  await endSession(runId);
  expect((await openAt(other, tenant)).status).toBe(201);
  expect((await openAt(other, tenant)).status).toBe(429);
  await fixture.stores.projects.update(tenant.projectId, { maxOpenSessions: 3 });
  expect((await openAt(other, tenant)).status).toBe(201);
  expect((await openAt(other, tenant)).status).toBe(429);
});

test('a limit of zero rejects every session, also one that a chat message would open', async () => {
  const tenant = await fixture.tenant({ maxOpenSessions: 0 });
  const opened = await openAt(api, tenant);
  expect([opened.status, opened.json]).toEqual(atLimit(0));
  const sent = await chatOf(tenant)({ message: 'Hello', clientMessageId: randomUUID() });
  expect([sent.status, sent.json]).toEqual(atLimit(0));
  expect(await storedRuns(tenant)).toBe(0);
  const run = await caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Go' },
  });
  expect(run.status).toBe(201);
});
