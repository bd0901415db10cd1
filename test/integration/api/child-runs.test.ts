// Runs that the agent of a run starts, with the credential that its host adds.

import { expect, test } from 'vitest';
import { agentOf, agentTokenOf, flowWithChildren } from './agent-caller.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();

async function startRoot(flowId: string): Promise<string> {
  const { json } = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  return json.data.runId;
}

const read = async (runId: string) => (await call(`/api/v1/runs/${runId}`)).json.data;

async function end(runId: string): Promise<void> {
  const ended = { cause: 'completed', detail: null, exitCode: 0 } as const;
  await fixture.stores.runs.endRun({ runId, ...ended });
}

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

test('a run that an agent starts names its parent, its root and its depth', async () => {
  const flowId = await flowWithChildren(fixture, tenant.projectId);
  const rootRunId = await startRoot(flowId);
  const none = { parentRunId: null, rootRunId: null, depth: 0 };
  expect(await read(rootRunId)).toMatchObject({ ...none, mcpServerNames: ['flowrun'] });

  const child = await agentOf(api, rootRunId).startChild(flowId);
  const key = { keyName: 'ci', createdBy: 'ana' };
  expect(await read(child)).toMatchObject({ parentRunId: rootRunId, rootRunId, depth: 1 });
  expect(await read(child)).toMatchObject({ triggerType: 'api', createdBy: key, labels: {} });
  const grandchild = await agentOf(api, child).startChild(tenant.flowId);
  expect(await read(grandchild)).toMatchObject({ parentRunId: child, rootRunId, depth: 2 });
});

test('a repeated tool call starts one run, also if both arrive at the same time', async () => {
  const flowId = await flowWithChildren(fixture, tenant.projectId, { maxRuns: 2 });
  const agent = agentOf(api, await startRoot(flowId));
  const starts = Array.from({ length: 5 }, () => agent.startChild(tenant.flowId, 'toolu_1'));
  const [first, ...others] = await Promise.all(starts);
  expect(first).toEqual(uuid);
  expect(new Set(others)).toEqual(new Set([first]));
  const second = await agent.startChild(tenant.flowId, 'toolu_2');
  expect([second, second === first]).toEqual([uuid, false]);
  expect(await agent.startChild(tenant.flowId, 'toolu_1')).toBe(first);
});

test('the key of a tool call names no run of another parent', async () => {
  const flowId = await flowWithChildren(fixture, tenant.projectId);
  const args = { prompt: 'Go', idempotencyKey: 'daily' };
  const byKey = await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: args });
  const started = await Promise.all(
    [await startRoot(flowId), await startRoot(flowId)].map(async (parent) => {
      const tool = { flow: tenant.flowId, ...args, waitSeconds: 0 };
      const { text } = await agentOf(api, parent).useTool('run_flow', tool);
      return JSON.parse(text).runId;
    }),
  );
  expect(new Set([byKey.json.data.runId, ...started]).size).toBe(3);
});

test('an agent can use only the runs below its own', async () => {
  const flowId = await flowWithChildren(fixture, tenant.projectId);
  const root = await startRoot(flowId);
  const child = await agentOf(api, root).startChild(flowId);
  const grandchild = await agentOf(api, child).startChild(flowId);
  const other = await startRoot(tenant.flowId);
  const reached = async (agent: string) => {
    const answers = [root, child, grandchild, other].map((runId) =>
      agentOf(api, agent).useTool('run_status', { runId, waitSeconds: 0 }),
    );
    return (await Promise.all(answers)).map(({ isError }) => !isError);
  };
  expect(await reached(root)).toEqual([false, true, true, false]);
  expect(await reached(child)).toEqual([false, false, true, false]);
  const stop = await agentOf(api, child).useTool('stop_run', { runId: root });
  expect(stop.text).toBe('UNAUTHORIZED: An agent can use only the runs that it has started.');
  expect((await read(root)).stopping).toBeUndefined();
  expect((await agentOf(api, root).useTool('stop_run', { runId: grandchild })).isError).toBe(false);
});

test('an agent has no chat, and no other route', async () => {
  const agent = agentOf(api, await startRoot(await flowWithChildren(fixture, tenant.projectId)));
  const { json } = await agent.call('/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  });
  const names = json.result.tools.map(({ name }: { name: string }) => name);
  expect(names).toContain('run_flow');
  expect(names).not.toContain('chat');
  for (const path of ['/runs', `/flows/${tenant.flowId}/sessions`])
    expect((await agent.call(`/api/v1${path}`)).status, path).toBe(403);
});

test('a token ends with its run, its sandbox and the permission of its flow', async () => {
  const flowId = await flowWithChildren(fixture, tenant.projectId);
  const list = (token: string) => caller(api, token)('/api/v1/flows').then(({ status }) => status);
  const [stopped, ended, superseded, withdrawn] = await Promise.all(
    Array.from({ length: 4 }, () => startRoot(flowId)),
  );
  for (const runId of [stopped, ended, superseded, withdrawn] as string[])
    expect(await list(agentTokenOf(runId))).toBe(200);
  await call(`/api/v1/runs/${stopped}/stop`, { body: {} });
  expect(await list(agentTokenOf(stopped ?? ''))).toBe(401);
  await end(ended ?? '');
  expect(await list(agentTokenOf(ended ?? ''))).toBe(401);
  expect(await list(agentTokenOf(superseded ?? '', 2))).toBe(401);
  await fixture.stores.flows.change(flowId, () => ({ childRuns: null }));
  expect(await list(agentTokenOf(withdrawn ?? ''))).toBe(401);
  expect(await list(`fra_${'x'.repeat(80)}`)).toBe(401);
});

test('an agent may start runs while the key of its run may', async () => {
  const { projectId } = tenant;
  const flowId = await flowWithChildren(fixture, projectId);
  const named = { projectId, name: 'limited', createdBy: 'test' };
  const limited = await fixture.stores.keys.create({ ...named, scopes: ['run', `flow:${flowId}`] });
  const started = await caller(api, limited.key)(`/api/v1/flows/${flowId}/runs`, {
    body: { prompt: 'Go' },
  });
  const agent = agentOf(api, started.json.data.runId);
  expect(await agent.startChild(tenant.flowId)).toMatch(/^UNAUTHORIZED: .*no scope for this flow/);
  expect(await agent.startChild(flowId)).toEqual(uuid);
  await fixture.stores.keys.revoke(limited.record.keyId);
  expect((await agent.call('/api/v1/flows')).status).toBe(401);
});
