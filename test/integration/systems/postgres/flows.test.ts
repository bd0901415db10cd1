import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ projectId } = await createScenario(database.pool, testSealer));
});
afterAll(() => database.drop());

const flows = () => createFlowStore(database.pool, testSealer);
const projects = () => createProjectStore(database.pool, testSealer);
const server = { type: 'http', url: 'https://mcp.example', headers: { a: 'b' } } as const;

test('a flow with only a name has the defaults', async () => {
  const flow = await flows().create({ projectId, name: 'Plain' });
  expect(flow).toEqual({
    ...{ projectId, name: 'Plain', flowId: expect.any(String), version: 1 },
    ...{ description: null, prompt: null, instructions: null, model: null, image: null },
    ...{ allowedModels: [], disallowedTools: [], mcpServerNames: [], envNames: [] },
    resources: { memoryBytes: limits.sandbox.memoryBytes, cpus: limits.sandbox.cpus },
    network: { policy: 'limited', allowedHosts: [] },
    ...{ timeoutSeconds: null, runner: null, limits: { maxTurns: null, maxBudgetUsd: null } },
    ...{
      monthlyBudgetUsd: null,
      childRuns: null,
      schedule: null,
      schedulePausedAt: null,
      archivedAt: null,
      storage: { usedBytes: 0 },
    },
    ...{ createdAt: expect.any(Date), updatedAt: expect.any(Date) },
  });
  expect(await flows().readSecrets(flow.flowId)).toEqual({ env: {}, mcpServers: {} });
});

test('a flow stores its fields and shows the names of its secrets only', async () => {
  const secrets = { env: { TOKEN: 'x', A: 'y' }, mcpServers: { docs: server } };
  const given = {
    ...{ flowId: randomUUID(), projectId, name: 'Full', description: 'd', prompt: 'p' },
    ...{ instructions: 'i', model: 'm', allowedModels: ['n'], image: 'img' },
    disallowedTools: ['Bash(git:*)'],
    resources: { memoryBytes: 4 * 1024 ** 3, cpus: 0.5 },
    network: { policy: 'open' as const, allowedHosts: ['a.example', 'b.example'] },
    ...{ timeoutSeconds: 60, runner: 'host-1', limits: { maxTurns: 5, maxBudgetUsd: 0.5 } },
    monthlyBudgetUsd: 7.5,
    childRuns: { maxRuns: 3, maxConcurrent: 2, maxBudgetUsd: null },
  };
  const flow = await flows().create({ ...given, secrets });
  expect(flow).toMatchObject({ ...given, envNames: ['A', 'TOKEN'], mcpServerNames: ['docs'] });
  expect(await flows().find(given.flowId)).toEqual(flow);
  expect(await flows().readSecrets(given.flowId)).toEqual(secrets);
});

test('a change replaces the named fields, clears those set to null, and increments the version', async () => {
  const secrets = { env: { A: '1' }, mcpServers: {} };
  const flow = await flows().create({ projectId, name: 'F', prompt: 'p', model: 'm', secrets });
  const changed = await flows().change(flow.flowId, () => ({ prompt: null, name: 'G' }));
  expect(changed).toEqual({
    ...{ ...flow, prompt: null, name: 'G', version: 2 },
    updatedAt: expect.any(Date),
  });
  const next = { env: { B: '2' }, mcpServers: { docs: server } };
  expect(await flows().change(flow.flowId, () => ({ secrets: next }))).toMatchObject({
    ...{ envNames: ['B'], mcpServerNames: ['docs'], version: 3, model: 'm' },
  });
  expect(await flows().readSecrets(flow.flowId)).toEqual(next);
  expect(await flows().change(randomUUID(), () => ({ name: 'x' }))).toBeNull();
  expect(await flows().find(randomUUID())).toBeNull();
});

test('twenty concurrent changes make twenty versions', async () => {
  const { flowId } = await flows().create({ projectId, name: 'F' });
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => flows().change(flowId, () => ({ name: `${n}` }))),
  );
  expect(await flows().find(flowId)).toMatchObject({ version: 21 });
});

test('a list has each flow of a project once, oldest first, page by page', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  await sleep(2); // flows of the same millisecond come in the order of their IDs
  for (let n = 0; n < 4; n += 1) {
    await flows().create({ projectId: scenario.projectId, name: `F${n}` });
  }
  const list = (limit: number, after?: string) => {
    const query = { limit, maxBytes: 1_000_000, ...(after === undefined ? {} : { after }) };
    return flows().listByProject(scenario.projectId, query);
  };
  const all = await list(5);
  expect(all.flows[0]).toEqual(scenario.flow);
  expect(all.flows).toHaveLength(5);
  expect(all.next).toBeNull();
  const first = await list(2);
  const second = await list(2, first.next ?? '');
  const third = await list(2, second.next ?? '');
  expect([first, second, third].flatMap((page) => page.flows)).toEqual(all.flows);
  expect(third.next).toBeNull();
  expect(await list(2, randomUUID())).toEqual({ flows: [], next: null });
});

test('a project is created once, and a change keeps omitted fields', async () => {
  const made = await projects().create({ projectId: 'acme', name: 'Acme' });
  const { concurrentRunsDefault, openSessionsDefault, storageDefaultBytes } = limits.project;
  const runLimits = {
    ...{ maxConcurrentRuns: concurrentRunsDefault, maxOpenSessions: openSessionsDefault },
    ...{ monthlyRunQuota: null, monthlyBudgetUsd: null },
  };
  const defaults = { ...runLimits, storageQuotaBytes: storageDefaultBytes };
  expect(made).toEqual({
    ...{ projectId: 'acme', name: 'Acme', ...defaults },
    createdAt: expect.any(Date),
    archivedAt: null,
  });
  expect(await projects().create({ projectId: 'acme', name: 'Other' })).toBeNull();
  expect(await projects().find('acme')).toEqual(made);
  expect(await projects().list()).toContainEqual(made);
  await projects().update('acme', { monthlyRunQuota: 5 });
  await projects().update('acme', { maxConcurrentRuns: 3 });
  await projects().update('acme', { maxOpenSessions: 4 });
  const changed = { ...made, maxConcurrentRuns: 3, maxOpenSessions: 4, monthlyRunQuota: 5 };
  expect(await projects().find('acme')).toEqual(changed);
  const freed = await projects().update('acme', { monthlyRunQuota: null });
  expect(freed).toEqual({ ...changed, monthlyRunQuota: null });
  expect(await projects().update('nowhere', { maxConcurrentRuns: 1 })).toBeNull();
  expect(await projects().find('nowhere')).toBeNull();
});

test.each(['', 'a/b', 'a b', 'ä', 'x'.repeat(65)])('the project id %j is refused', async (id) => {
  await expect(projects().create({ projectId: id, name: 'P' })).rejects.toThrow('check constraint');
});
