// The real agent starts runs: its host forwards its calls to the tools of this service, and adds
// the credential.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseText, historyText } from '../support/collect-all-output.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { modelScript } from '../support/prompts.ts';
import { asking, colour } from '../support/questions.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';
import { toolResultsIn } from '../support/tool-results.ts';

let service: Service;

beforeAll(async () => {
  const childRuns = { maxRuns: 5, maxConcurrent: 2, maxBudgetUsd: null };
  service = await startService({ agent: 'real', flow: { name: 'worker', childRuns } });
}, 300_000);
afterAll(() => service?.stop());

interface ToolCall {
  tool: string;
  input: object;
}

const called = (name: string, input: object): ToolCall => ({
  tool: `mcp__flowrun__${name}`,
  input,
});

/** The agent of a session makes the calls in one turn. Returns what it got, in order. */
async function useTools(chat: Conversation, ...calls: ToolCall[]): Promise<string[]> {
  const before = toolResultsIn(chat.events).length;
  await chat.say(modelScript([...calls, { text: 'Done.' }]));
  return toolResultsIn(chat.events).slice(before);
}

const command = 'echo painted > wall.txt';
const painting = modelScript([{ tool: 'Bash', input: { command } }, { text: 'Painted.' }]);

interface Child {
  runId: string;
  parentRunId: string | null;
  rootRunId: string | null;
  depth: number;
}

const childrenOf = async (runId: string): Promise<Child[]> => {
  const { data } = await service.call<Child[]>('GET', '/runs?limit=200');
  return data.filter(({ rootRunId }) => rootRunId === runId);
};

test('the agent starts a flow, reads its file and answers its question', async () => {
  const chat = await openConversation(service);
  const [painted, asked] = await useTools(
    chat,
    called('run_flow', { flow: 'worker', prompt: painting }),
    called('run_flow', { flow: 'worker', prompt: asking([colour]) }),
  );
  const first = JSON.parse(painted ?? '');
  expect(first).toMatchObject({ hasEnded: true, exitCode: 0, result: 'Painted.' });
  const { runId, questions } = JSON.parse(asked ?? '');
  const [{ interactionId }] = questions;
  const [content, answered, status] = await useTools(
    chat,
    called('read_file', { runId: first.runId, path: 'wall.txt' }),
    called('answer_question', { runId, interactionId, answers: { 'Which colour?': 'Blue' } }),
    called('run_status', { runId }),
  );
  expect(content).toBe('painted\n');
  expect(JSON.parse(answered ?? '')).toEqual({ runId, answered: true });
  expect(JSON.parse(status ?? '')).toMatchObject({ hasEnded: true, result: 'Done.' });

  const root = { parentRunId: chat.runId, rootRunId: chat.runId, depth: 1 };
  expect(await childrenOf(chat.runId)).toMatchObject([root, root]);
  // The agent's own ID of its tool call is in the ID of the workflow.
  const { rows } = await service.database.pool.query<{ id: string }>(
    'select workflow_id as id from runs where ancestor_ids[1] = $1',
    [chat.runId],
  );
  for (const { id } of rows) expect(id).toContain(`/${chat.runId}:toolu_`);
  await endSession(service, chat);
}, 240_000);

const token = 'fra_[A-Za-z0-9_-]{40,}';
const folders = '/workspace /home /tmp /run /spool /opt/frs /etc /var';
const search = `grep -rlaE '${token}' ${folders} 2>/dev/null; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | grep -aoE '${token}'; echo searched`;
const list = `curl -s http://127.0.0.1:8118/mcp -H 'authorization: Bearer own' -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`;

test('the credential of an agent is only on its host', async () => {
  // The prompt, which the agent stores, does not contain the text.
  const planted = "printf 'fra_%040d' 1 > /tmp/planted";
  const bash = (line: string): ToolCall => ({ tool: 'Bash', input: { command: line } });
  const { runId } = await service.trigger({
    prompt: modelScript([
      ...[bash(search), bash(list), bash(`${planted}; ${search}`)],
      ...[called('run_flow', { flow: 'worker', prompt: painting }), { text: 'Done.' }],
    ]),
  });
  const events = await collect(service.stream(runId));
  const [found, tools, control, child] = toolResultsIn(events);
  expect(found).toBe('searched');
  expect(tools, 'also for another process of the sandbox').toContain('run_flow');
  expect(control).toContain('/tmp/planted');
  expect(JSON.parse(child ?? '')).toMatchObject({ hasEnded: true, result: 'Painted.' });

  const stored = await databaseText(service.database.pool);
  const pattern = new RegExp(token, 'g');
  const others = { api: service.api.log(), worker: service.worker.log() };
  for (const [name, text] of Object.entries({
    ...others,
    history: await historyText(`run/${runId}`),
  }))
    expect([name, text.match(pattern)]).toEqual([name, null]);
  expect(stored.match(pattern)).toBeNull();
}, 240_000);
