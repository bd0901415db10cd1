import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { emptyRunConfig } from '../../../../core/runs/run-config.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { admissionStores } from './admission-stores.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const stores = () => admissionStores(database.pool);

const oneServer = { type: 'http', url: 'https://one.example' } as const;

test('an admitted run has the requested fields, is running and not started', async () => {
  const request = scenario.request({
    name: 'Näme',
    labels: { team: 'a\0b', 'x.y': '' },
    prompt: 'p'.repeat(1_000_000),
    callbackUrl: 'https://hooks.example/x',
    partialMessages: true,
    timeoutSeconds: 77,
  });
  const admission = await stores().admission.admitRun(request);
  const { runId, flowId, projectId, name, labels, prompt } = request;
  expect(admission).toMatchObject({
    outcome: 'admitted',
    run: {
      ...{ runId, flowId, projectId, name, labels, prompt },
      status: 'running',
      agentStatus: null,
      triggerType: 'api',
      partialMessages: true,
      timeoutSeconds: 77,
      startedAt: null,
      endedAt: null,
      createdBy: { keyName: 'ci', createdBy: 'ana' },
      webhook: { state: 'waiting', attempts: 0, lastStatus: null },
      generation: 1,
      workflowId: `run/${runId}`,
      workflowStartedAt: null,
      lastSeq: 0,
    },
  });
  expect(await stores().runs.find(runId)).toEqual('run' in admission && admission.run);
});

test('returns the configuration with the plan, and the names of its servers with the run', async () => {
  const mcpServers = { zeta: oneServer, alpha: oneServer };
  const secrets = { env: { TOKEN: 't' }, mcpServers: { beta: oneServer, alpha: oneServer } };
  const withServers = await createScenario(database.pool, testSealer, { flow: { secrets } });
  const config = { ...emptyRunConfig, mcpServers, env: { A: 'b' } };
  const merged = await withServers.run({ config });
  expect(merged.mcpServerNames).toEqual(['alpha', 'beta', 'zeta']);
  const replaced = await withServers.run({ config: { ...config, mcpMode: 'replace' } });
  expect(replaced.mcpServerNames).toEqual(['alpha', 'zeta']);
  const plan = await stores().runs.sandboxPlan(merged.runId);
  expect(plan).toMatchObject({ run: merged, flow: withServers.flow, secrets, config });
});

describe('the permissions of a run', () => {
  const limits = { maxTurns: 9, maxBudgetUsd: 1.5 };

  test("takes the flow's values unless the request has its own, and keeps them", async () => {
    const bounded = await createScenario(database.pool, testSealer, {
      flow: { model: 'm', limits },
    });
    const plain = await bounded.run();
    expect(plain).toMatchObject({ model: 'm', ...limits, retryOf: null });
    await stores().flows.change(bounded.flow.flowId, () => ({
      model: 'n',
      limits: { ...limits, maxTurns: 1 },
    }));
    expect(await stores().runs.find(plain.runId)).toEqual(plain);
    const requested = { model: 'o', maxTurns: 2, maxBudgetUsd: 0.01, retryOf: plain.runId };
    const outputSchema = '{"type":"object","title":"\\u0000"}';
    const own = await bounded.run({ ...requested, outputSchema });
    expect(own).toMatchObject(requested);
    expect(await stores().runs.sandboxPlan(own.runId)).toMatchObject({ outputSchema });
  });

  test('keeps the names of the configuration’s fields after their deletion, and its context', async () => {
    const given = { ...emptyRunConfig, env: { A: 'b' }, context: { 'user-id': 'canary-7' } };
    const { runId, ...run } = await scenario.run({ config: given });
    expect(run).toMatchObject({ secretFields: ['env', 'context'] });
    await stores().end(runId);
    expect(await stores().configs.read({ runId, generation: 1 })).toBeNull();
    expect(await stores().configs.context(runId)).toEqual({ 'user-id': 'canary-7' });
    const { rows } = await database.pool.query('select * from runs where id = $1', [runId]);
    expect(JSON.stringify(rows)).not.toContain('canary');
    const plain = await scenario.run();
    expect(plain).toMatchObject({ secretFields: [] });
    expect(await stores().configs.context(plain.runId)).toEqual({});
  });
});

test('throws and changes nothing if the flow or project is unknown, or they do not match', async () => {
  const other = await createScenario(database.pool, testSealer);
  for (const wrong of [
    scenario.request({ projectId: 'nowhere' }),
    scenario.request({ flowId: randomUUID() }),
    scenario.request({ flowId: other.flow.flowId }),
  ]) {
    await expect(stores().admission.admitRun(wrong)).rejects.toThrow(/^no (flow|project)/);
  }
  expect(await stores().writtenFor(scenario.projectId)).toMatchObject({ runs: 0, month: 0 });
});
