import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';
import { refusedFlows } from './refused-flows.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
let path: string;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
  path = `/api/projects/${tenant.projectId}/flows`;
  await fixture.stores.hosts.renew({ hostId: full.runner, name: 'first', capacity: 4 });
});

const create = (body: Record<string, unknown>) => operator(path, { body });
const change = (flowId: string, body: Record<string, unknown>) =>
  operator(`${path}/${flowId}`, { method: 'PATCH', body });
const newFlow = async (body: Record<string, unknown> = {}) => {
  const made = await create({ name: 'A flow', ...body });
  expect(made.status, made.text).toBe(201);
  return made.json.data;
};
const server = (url = 'https://mcp.example.test/canary') => ({ type: 'http', url });

const full = {
  name: 'Full',
  description: 'What it is for',
  prompt: 'Go',
  instructions: 'Be brief.',
  model: 'claude-sonnet-4-5',
  allowedModels: ['opus', 'my-model'],
  disallowedTools: ['Bash(git:*)'],
  image: 'registry.example.test/agent:2',
  runner: 'host-1',
  timeoutSeconds: 86_400,
  resources: { memoryBytes: 256 * 1024 ** 2, cpus: 0.1 },
  network: { policy: 'limited', allowedHosts: ['*.example.test', 'example.test:8443'] },
  limits: { maxTurns: 3, maxBudgetUsd: 0.01 },
  monthlyBudgetUsd: 1_000_000,
  childRuns: { maxRuns: 1_000, maxConcurrent: 100, maxBudgetUsd: 0.01 },
};

test('creates a flow with the given fields and defaults; API keys list it', async () => {
  expect(await newFlow()).toMatchObject({
    ...{ projectId: tenant.projectId, prompt: null, instructions: null, envNames: [], version: 1 },
    resources: { memoryBytes: limits.sandbox.memoryBytes, cpus: limits.sandbox.cpus },
    network: { policy: 'limited', allowedHosts: [] },
    limits: { maxTurns: null, maxBudgetUsd: null },
    ...{ monthlyBudgetUsd: null, childRuns: null, allowedModels: [] },
  });
  const made = await newFlow(full);
  expect(made).toMatchObject(full);
  expect((await operator(`${path}/${made.flowId}`)).json.data).toEqual(made);
  const listed = await operator(`${path}?limit=200`);
  expect(listed.json.data.at(-1)).toEqual(made);
  expect((await caller(api, tenant.key)('/api/v1/flows')).json.data.at(-1)).toEqual(made);
});

test('a change keeps fields that it omits, and null removes a field', async () => {
  const { flowId, ...before } = await newFlow(full);
  const changed = await change(flowId, {
    prompt: null,
    timeoutSeconds: null,
    resources: { cpus: 2 },
    network: { allowedHosts: [] },
    limits: { maxTurns: null },
  });
  expect(changed.json.data).toEqual({
    ...{ ...before, flowId, prompt: null, timeoutSeconds: null, version: 2 },
    resources: { ...full.resources, cpus: 2 },
    network: { policy: 'limited', allowedHosts: [] },
    limits: { maxTurns: null, maxBudgetUsd: 0.01 },
    updatedAt: expect.any(String),
  });
});

test('the monthly budget of a flow rejects its runs, until it is removed', async () => {
  const { flowId } = await newFlow({ monthlyBudgetUsd: 0 });
  const body = { prompt: 'Go' };
  const run = () => caller(api, tenant.key)(`/api/v1/flows/${flowId}/runs`, { body });
  const { status, json } = await run();
  expect(status).toBe(429);
  expect(json.error).toEqual({
    code: 'BUDGET_REACHED',
    message: expect.stringContaining("The flow's monthly budget is reached"),
    ...{ limit: 0, current: 0, budget: 'flow' },
  });
  await change(flowId, { monthlyBudgetUsd: null });
  expect((await run()).status).toBe(201);
});

test('rejects an unknown host as a runner, and keeps the flow', async () => {
  const { flowId } = await newFlow(full);
  const message = expect.stringMatching(
    /^body\.runner: is not the ID of a known host.*flowrun host list/,
  );
  for (const { status, json } of [
    await create({ name: 'Bound', runner: 'nope' }),
    await change(flowId, { runner: 'nope' }),
  ])
    expect([status, json.error.message]).toEqual([400, message]);
  expect((await operator(`${path}/${flowId}`)).json.data).toMatchObject({ ...full, version: 1 });
  expect((await change(flowId, { runner: null })).json.data.runner).toBeNull();
});

test('variables and servers change by name, and their values are never returned', async () => {
  const made = await newFlow({
    env: { TOKEN: 'canary-1', OTHER: 'canary-2' },
    mcpServers: { docs: { ...server(), headers: { auth: 'canary-${TOKEN}' } } },
  });
  const { flowId } = made;
  expect(made).toMatchObject({ envNames: ['OTHER', 'TOKEN'], mcpServerNames: ['docs'] });
  const changed = await change(flowId, {
    env: { OTHER: null, MORE: 'canary-3' },
    mcpServers: { more: server() },
  });
  expect(changed.json.data).toMatchObject({
    envNames: ['MORE', 'TOKEN'],
    mcpServerNames: ['docs', 'more'],
  });
  expect(await fixture.stores.flows.readSecrets(flowId)).toEqual({
    env: { TOKEN: 'canary-1', MORE: 'canary-3' },
    mcpServers: { docs: { ...server(), headers: { auth: 'canary-${TOKEN}' } }, more: server() },
  });
  const cleared = await change(flowId, { mcpServers: null });
  expect(cleared.json.data).toMatchObject({ envNames: ['MORE', 'TOKEN'], mcpServerNames: [] });
  const read = await operator(`${path}/${flowId}`);
  for (const { text } of [changed, cleared, read]) expect(text).not.toContain('canary');
  expect(api.log()).not.toContain('canary');
});

test('a schedule has five fields and a time zone, and requires a prompt in the flow', async () => {
  const schedule = { cron: '30 9 * * MON-FRI', timezone: 'Europe/Berlin' };
  const { flowId } = await newFlow({ prompt: 'Go', schedule });
  expect((await operator(`${path}/${flowId}`)).json.data.schedule).toEqual(schedule);
  const inUtc = await change(flowId, { schedule: { cron: '0 0 1 * *' } });
  expect(inUtc.json.data.schedule).toEqual({ cron: '0 0 1 * *', timezone: 'UTC' });
  const refused = await change(flowId, { prompt: null });
  expect([refused.status, refused.json.error.message]).toEqual([
    400,
    'body.schedule: requires a prompt in the flow',
  ]);
  const cleared = await change(flowId, { prompt: null, schedule: null });
  expect(cleared.json.data).toMatchObject({ prompt: null, schedule: null });
  expect((await change(flowId, { schedule })).status).toBe(400);
});

test('ten concurrent changes lose no variable', async () => {
  const { flowId } = await newFlow();
  const names = Array.from({ length: 10 }, (_, n) => `NAME_${n}`);
  await Promise.all(names.map((name) => change(flowId, { env: { [name]: 'x' } })));
  const { json } = await operator(`${path}/${flowId}`);
  expect(json.data).toMatchObject({ envNames: names, version: 11 });
});

test('rejects removing a variable that a server uses, and changes nothing', async () => {
  const { flowId } = await newFlow({
    env: { TOKEN: 'x' },
    mcpServers: { docs: server('https://mcp.example.test/${TOKEN}') },
  });
  const refused = await change(flowId, { name: 'Other', env: { TOKEN: null } });
  expect([refused.status, refused.json.error.message]).toEqual([
    400,
    expect.stringContaining('body.mcpServers.docs.url'),
  ]);
  expect((await operator(`${path}/${flowId}`)).json.data).toMatchObject({
    name: 'A flow',
    envNames: ['TOKEN'],
  });
});

test.each(refusedFlows)('rejects an invalid flow, naming the field: %j', async (given, field) => {
  const answer = await create({ name: 'A flow', ...given });
  expect([answer.status, answer.json.error.message]).toEqual([400, expect.stringContaining(field)]);
});

test('a flow of another project is 404', async () => {
  const other = await fixture.tenant();
  for (const method of ['GET', 'PATCH']) {
    const options = { method, ...(method === 'PATCH' ? { body: { name: 'Mine' } } : {}) };
    expect((await operator(`${path}/${other.flowId}`, options)).status).toBe(404);
  }
  expect((await fixture.stores.flows.find(other.flowId))?.name).toBe('A flow');
});
