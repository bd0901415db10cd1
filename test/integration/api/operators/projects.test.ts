import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { publicUrl } from '../../../support/api-fixture.ts';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const newProject = async (given: Record<string, unknown> = {}) => {
  const projectId = `p-${randomUUID()}`;
  const answer = await operator('/api/projects', { body: { projectId, ...given } });
  expect(answer.status, answer.text).toBe(201);
  return projectId;
};
const patch = (path: string, body: unknown) => operator(path, { method: 'PATCH', body });

test('creates a project with the given fields and defaults', async () => {
  const projectId = await newProject();
  const bounds = { maxConcurrentRuns: 10, maxOpenSessions: 10_000, monthlyRunQuota: null };
  const others = { monthlyBudgetUsd: null, storageQuotaBytes: 50 * 1024 ** 3 };
  const usual = { projectId, name: projectId, ...bounds, ...others };
  const path = `/api/projects/${projectId}`;
  const times = { createdAt: expect.any(String), archivedAt: null };
  expect((await operator(path)).json.data).toEqual({ ...usual, ...times });
  const ofFull = { maxConcurrentRuns: 0, maxOpenSessions: 1_000_000, monthlyRunQuota: 1_000_000 };
  const full = { name: 'Full', ...ofFull, monthlyBudgetUsd: 1e6, storageQuotaBytes: 2 ** 50 };
  const other = await newProject(full);
  expect((await operator(`/api/projects/${other}`)).json.data).toMatchObject(full);
  const taken = await operator('/api/projects', { body: { projectId } });
  expect([taken.status, taken.json.error.message]).toEqual([
    400,
    'body.projectId: is already in use',
  ]);
});

test.each([
  [{}, 'body.projectId'],
  [{ projectId: '' }, 'body.projectId'],
  [{ projectId: 'a/b' }, 'body.projectId'],
  [{ projectId: 'p'.repeat(65) }, 'body.projectId'],
  [{ projectId: 'p', name: '' }, 'body.name'],
  [{ projectId: 'p', name: 'n'.repeat(201) }, 'body.name'],
  [{ projectId: 'p', maxConcurrentRuns: -1 }, 'body.maxConcurrentRuns'],
  [{ projectId: 'p', maxConcurrentRuns: 1_000_001 }, 'body.maxConcurrentRuns'],
  [{ projectId: 'p', maxConcurrentRuns: null }, 'body.maxConcurrentRuns'],
  [{ projectId: 'p', maxOpenSessions: -1 }, 'body.maxOpenSessions'],
  [{ projectId: 'p', maxOpenSessions: 1_000_001 }, 'body.maxOpenSessions'],
  [{ projectId: 'p', maxOpenSessions: null }, 'body.maxOpenSessions'],
  [{ projectId: 'p', monthlyRunQuota: 0.5 }, 'body.monthlyRunQuota'],
  [{ projectId: 'p', monthlyBudgetUsd: -0.01 }, 'body.monthlyBudgetUsd'],
  [{ projectId: 'p', monthlyBudgetUsd: 1_000_000.01 }, 'body.monthlyBudgetUsd'],
  [{ projectId: 'p', storageQuotaBytes: -1 }, 'body.storageQuotaBytes'],
  [{ projectId: 'p', storageQuotaBytes: 2 ** 50 + 1 }, 'body.storageQuotaBytes'],
  [{ projectId: 'p', other: 1 }, 'body.other: unknown field'],
])('rejects an invalid project, naming the field: %j', async (body, field) => {
  const answer = await operator('/api/projects', { body });
  expect([answer.status, answer.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(answer.json.error.message).toContain(field);
});

test('projects are listed page by page, each once', async () => {
  for (let count = 0; count < 5; count += 1) await newProject();
  const listed: string[] = [];
  for (let url: string | undefined = '/api/projects?limit=2'; url !== undefined; ) {
    const page = await operator(url);
    expect(page.json.data.length).toBeLessThanOrEqual(2);
    listed.push(...page.json.data.map((each: { projectId: string }) => each.projectId));
    url = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]?.replace(publicUrl, '');
  }
  const all = (await fixture.stores.projects.list()).map(({ projectId }) => projectId);
  expect(listed).toEqual(all);
});

test('a change of settings keeps the others, and applies from the next trigger on', async () => {
  const tenant = await fixture.tenant();
  const path = `/api/projects/${tenant.projectId}/settings`;
  const trigger = () =>
    caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
  const before = (await operator(path)).json.data;
  expect(before).toEqual({
    projectId: tenant.projectId,
    name: 'A project',
    maxConcurrentRuns: 100_000,
    maxOpenSessions: 10_000,
    monthlyRunQuota: null,
    monthlyBudgetUsd: null,
    storageQuotaBytes: 50 * 1024 ** 3,
    model: null,
  });
  expect((await patch(path, { maxConcurrentRuns: 1 })).json.data).toEqual({
    ...before,
    maxConcurrentRuns: 1,
  });
  expect((await trigger()).status).toBe(201);
  expect((await trigger()).json.error).toMatchObject({ code: 'CONCURRENT_LIMIT', limit: 1 });
  await patch(path, { maxConcurrentRuns: 9, monthlyRunQuota: 1, name: 'Renamed' });
  expect((await trigger()).json.error).toMatchObject({
    code: 'MONTHLY_QUOTA',
    limit: 1,
    current: 1,
  });
  expect((await patch(path, { monthlyRunQuota: null })).json.data).toEqual({
    ...before,
    maxConcurrentRuns: 9,
    name: 'Renamed',
  });
  expect((await trigger()).status).toBe(201);
});

test('stores the key of a project’s model sealed and never returns it', async () => {
  const projectId = await newProject();
  const path = `/api/projects/${projectId}/settings`;
  const model = { apiKey: 'sk-canary-0123456789', baseUrl: 'https://models.example.test/v2' };
  const answer = await patch(path, { model });
  expect(answer.json.data.model).toEqual({ baseUrl: model.baseUrl });
  expect(answer.text).not.toContain('canary');
  expect((await operator(path)).text).not.toContain('canary');
  expect(await fixture.stores.projects.readModel(projectId)).toEqual(model);
  expect(api.log()).not.toContain('canary');
  const { rows } = await fixture.database.pool.query('select p::text as row from projects p');
  expect(JSON.stringify(rows)).not.toContain(Buffer.from('canary').toString('hex'));
  await patch(path, { name: 'Renamed' });
  expect(await fixture.stores.projects.readModel(projectId)).toEqual(model);
  expect((await patch(path, { model: null })).json.data.model).toBeNull();
  expect(await fixture.stores.projects.readModel(projectId)).toBeNull();
});

test.each([
  ['http://models.example.test'],
  ['https://user:secret@models.example.test'],
  ['https://models.example.test/?key=1'],
  ['https://models.example.test:99999'],
  ['file:///etc/passwd'],
  ['models.example.test'],
])('rejects a model at %s', async (baseUrl) => {
  const path = `/api/projects/${await newProject()}/settings`;
  const answer = await patch(path, { model: { apiKey: 'sk-1', baseUrl } });
  expect([answer.status, answer.json.error.message]).toEqual([
    400,
    expect.stringContaining('body.model.baseUrl'),
  ]);
  expect((await patch(path, { model: { baseUrl: 'https://other.example.test' } })).status).toBe(
    400,
  );
});

test('shows the webhook secret, and a new one after it was replaced', async () => {
  const path = `/api/projects/${await newProject()}/webhook-secret`;
  const { webhookSecret: first, standardWebhookSecret } = (await operator(path)).json.data;
  expect(first).toMatch(/^whs_\S{43}$/);
  expect(standardWebhookSecret).toBe(`whsec_${Buffer.from(first).toString('base64')}`);
  expect((await operator(path)).json.data.webhookSecret).toBe(first);
  const { nextWebhookSecret: next } = (await operator(`${path}/next`, { method: 'POST' })).json
    .data;
  const replaced = await operator(`${path}/rotate`, { body: { immediately: true } });
  expect(replaced.json.data.webhookSecret).toMatch(/^whs_\S{43}$/);
  expect([first, next]).not.toContain(replaced.json.data.webhookSecret);
  expect((await operator(path)).json.data).toEqual(replaced.json.data);
  expect(api.log()).not.toContain(replaced.json.data.webhookSecret);
});

test('does not replace the webhook secret without a next one, unless asked to', async () => {
  const path = `/api/projects/${await newProject()}/webhook-secret`;
  const before = (await operator(path)).json.data;
  for (const body of [undefined, {}, { immediately: false }, { immediately: 1 }, { now: true }]) {
    const refused = await operator(`${path}/rotate`, { method: 'POST', body });
    expect([body, refused.status]).toEqual([body, 400]);
  }
  const { message } = (await operator(`${path}/rotate`, { method: 'POST' })).json.error;
  for (const way of ['POST …/webhook-secret/next', '{"immediately":true}']) {
    expect(message).toContain(way);
  }
  expect((await operator(path)).json.data).toEqual(before);
});

test('rotates the webhook secret with an overlap', async () => {
  const path = `/api/projects/${await newProject()}/webhook-secret`;
  const { webhookSecret } = (await operator(path)).json.data;
  const begun = await operator(`${path}/next`, { method: 'POST' });
  const { nextWebhookSecret, nextStandardWebhookSecret } = begun.json.data;
  expect(begun.json.data).toMatchObject({ webhookSecret });
  expect(nextStandardWebhookSecret).toBe(
    `whsec_${Buffer.from(nextWebhookSecret).toString('base64')}`,
  );
  expect(nextWebhookSecret).toMatch(/^whs_\S{43}$/);
  expect(nextWebhookSecret).not.toBe(webhookSecret);
  expect((await operator(`${path}/next`, { method: 'POST' })).json).toEqual(begun.json);
  await operator(`${path}/rotate`, { method: 'POST' });
  const repeated = await operator(`${path}/rotate`, { method: 'POST' });
  expect(repeated.status).toBe(400);
  expect((await operator(path)).json.data).toMatchObject({
    webhookSecret: nextWebhookSecret,
    standardWebhookSecret: nextStandardWebhookSecret,
    nextWebhookSecret: null,
    nextStandardWebhookSecret: null,
  });
  expect(api.log()).not.toContain(nextWebhookSecret);
});

test('answers 404 for unknown path parameters', async () => {
  const [mine, other] = [await fixture.tenant(), await fixture.tenant()];
  const missing = [
    '/api/projects/nothing',
    '/api/projects/%00',
    `/api/projects/${'p'.repeat(65)}/keys`,
    '/api/projects/nothing/settings',
    '/api/projects/nothing/webhook-secret',
    '/api/projects/nothing/keys',
    `/api/projects/${mine.projectId}/keys/x`,
    `/api/projects/${mine.projectId}/keys/${randomUUID()}`,
    `/api/projects/${mine.projectId}/keys/${other.keyId}`,
    `/api/projects/${mine.projectId}/nothing`,
  ];
  for (const path of missing) {
    const answer = await operator(path);
    expect([path, answer.status, answer.json.error.code]).toEqual([path, 404, 'NOT_FOUND']);
  }
  const wrong = await operator('/api/projects', { method: 'DELETE' });
  expect([wrong.status, wrong.json.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
});
