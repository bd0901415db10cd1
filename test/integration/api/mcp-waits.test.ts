// How long the tools of the Model Context Protocol wait, and how much they return.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { mcpLimits } from '../../../core/agent/mcp-limits.ts';
import { caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

const toolCall = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

interface Texts {
  result: { content: { text: string }[]; isError?: boolean };
}

/** Calls a tool. Returns the texts of its result. */
async function useTool(
  { url }: { url: string },
  key: string,
  [name, args]: [string, object],
): Promise<string[]> {
  const response = await caller({ url }, key)('/mcp', { body: toolCall(name, args) });
  expect(response.status, response.text).toBe(200);
  const { result } = response.json as Texts;
  expect(result.isError ?? false, response.text).toBe(false);
  return result.content.map(({ text }) => text);
}

/** How often a run was read. */
const readsIn = ({ log }: { log: () => string }): number =>
  log().split('"route":"/api/v1/runs/:runId"').length - 1;

test('a tool stops waiting when the service closes', async () => {
  const { key, flowId } = await fixture.tenant();
  const closing = await fixture.start();
  const waiting = useTool(closing, key, ['run_flow', { flow: flowId, prompt: 'Go' }]);
  await expect.poll(() => readsIn(closing)).toBeGreaterThan(0);
  const began = performance.now();
  await closing.close();
  expect(JSON.parse((await waiting)[0] ?? '')).toMatchObject({ hasEnded: false, flowId });
  expect(performance.now() - began).toBeLessThan((mcpLimits.waitMaxSeconds * 1_000) / 2);
});

test('a tool stops waiting when its client disconnects', async () => {
  const { key, flowId } = await fixture.tenant();
  const started = await useTool(api, key, [
    'run_flow',
    { flow: flowId, prompt: 'Go', waitSeconds: 0 },
  ]);
  const { runId } = JSON.parse(started[0] ?? '');
  const reads = () => readsIn(api);
  const leaving = new AbortController();
  const waiting = fetch(`${api.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(toolCall('run_status', { runId })),
    signal: leaving.signal,
  });
  const before = reads();
  await expect.poll(reads).toBeGreaterThan(before);
  leaving.abort();
  await expect(waiting).rejects.toThrow();
  const after = reads();
  // Two further reads would be due after one and two seconds.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(reads() - after).toBeLessThanOrEqual(1);
});

test('the request of a chat ends when its client disconnects, and the message is kept', async () => {
  const { key, flowId } = await fixture.tenant();
  const requests = () => api.log().split('"route":"/api/v1/flows/:flowId/chat"').length - 1;
  const messages = async () => {
    const text = `select count(*) from session_messages m join runs r on r.id = m.run_id
                  where r.flow_id = $1`;
    return Number((await fixture.database.pool.query(text, [flowId])).rows[0].count);
  };
  const leaving = new AbortController();
  const waiting = fetch(`${api.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(toolCall('chat', { flow: flowId, message: 'Hello' })),
    signal: leaving.signal,
  });
  await expect.poll(messages, { timeout: 10_000 }).toBe(1);
  const before = requests();
  leaving.abort();
  await expect(waiting).rejects.toThrow();
  await expect.poll(requests, { timeout: 10_000 }).toBe(before + 1);
  expect(await messages()).toBe(1);
});

test('find and list every flow, and have a tool for flows after the first page', async () => {
  const { key, projectId, flowId } = await fixture.tenant();
  await fixture.database.pool.query(
    `insert into flows select (jsonb_populate_record(f, jsonb_build_object(
       'id', gen_random_uuid(), 'name', 'flow ' || n, 'created_at', f.created_at + n * interval '1 s'
     ))).* from flows f, generate_series(1, 250) n where id = $1`,
    [flowId],
  );
  await fixture.stores.flows.create({ projectId, name: 'last', description: 'The last one.' });
  const [first, more] = await useTool(api, key, ['list_flows', {}]);
  const [, cursor] = /cursor (\S+)\.$/.exec(more ?? '') ?? [];
  const [second, ...none] = await useTool(api, key, ['list_flows', { cursor }]);
  const listed = [first, second].flatMap((text) => JSON.parse(text ?? '') as { name: string }[]);
  expect(none).toEqual([]);
  expect(new Set(listed.map(({ name }) => name)).size).toBe(252);
  const [text] = await useTool(api, key, [
    'run_flow',
    { flow: 'last', prompt: 'Go', waitSeconds: 0 },
  ]);
  expect(JSON.parse(text ?? '')).toMatchObject({ hasEnded: false });
  const tools = await caller(api, key)('/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  });
  expect(tools.text).toContain('"flow_last"');
});

test('long answers and questions of the agent are truncated', async () => {
  const { key, flowId } = await fixture.tenant();
  const call = caller(api, key);
  const status = async (runId: string) => {
    const [text] = await useTool(api, key, ['run_status', { runId, waitSeconds: 0 }]);
    return JSON.parse(text ?? '');
  };
  const started = async () => {
    const { json } = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
    return json.data.runId as string;
  };
  const long = 'x'.repeat(mcpLimits.textMaxChars);
  const asking = await started();
  const input = JSON.stringify({ questions: [{ question: long, options: [] }] });
  const interaction = { interactionId: randomUUID(), toolName: 'AskUserQuestion', input };
  await fixture.stores.interactions.record(asking, [{ kind: 'asked', interaction }]);
  const { questions } = await status(asking);
  expect(questions).toMatch(/x\[…\]$/);
  expect(questions.length).toBe(mcpLimits.textMaxChars + 3);

  const { frames, runs } = fixture.stores;
  for (const answer of ['short', long]) {
    const runId = await started();
    const structuredOutput = JSON.stringify({ answer });
    const turn = { result: null, structuredOutput, numTurns: 1 };
    await frames.appendOwn({ runId, frames: [], facts: { turn } });
    await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    const shown = (await status(runId)).structuredOutput;
    if (answer === long) expect(shown).toMatch(/^\{"answer":"x+\[…\]$/);
    else expect(shown).toEqual({ answer });
  }
});
