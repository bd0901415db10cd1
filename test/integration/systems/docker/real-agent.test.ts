import { readFileSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { agentCommand } from '../../../../core/agent/agent-command.ts';
import { type OfflineModel, startOfflineModel } from '../../../../offline-model/server.ts';
import { createDockerFixture } from './support/docker-fixture.ts';

// A processor shared with many others can make the agent's boot long.
vi.setConfig({ testTimeout: 180_000 });

const fixture = createDockerFixture();
let model: OfflineModel;

beforeAll(async () => {
  model = await startOfflineModel();
});
afterAll(async () => {
  await fixture.close();
  await model.close();
});

/** The gateway without its rules. */
function passToModel(asked: IncomingMessage, response: ServerResponse): void {
  const path = (asked.url ?? '').replace(/^\/model/, '');
  const { method, headers } = asked;
  const sent = request(
    `${model.url}${path}`,
    { ...(method ? { method } : {}), headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  sent.on('error', () => response.destroy());
  asked.pipe(sent);
}

const command = agentCommand({
  flow: {
    ...{ instructions: null, disallowedTools: [], networkPolicy: 'none' },
    ...{ env: {}, mcpServers: {}, startsRuns: false },
  },
  config: {
    env: {},
    mcpServers: {},
    mcpMode: 'merge',
    appendSystemPrompt: null,
    disallowedTools: [],
    context: {},
  },
  run: {
    partialMessages: false,
    model: null,
    maxTurns: null,
    outputSchema: null,
    answerTokensMax: null,
  },
  conversation: { id: 'f2b1c6de-7e64-4f0a-9a53-0d6f2f0c1f11', resume: false },
});

test('the real agent starts in a hardened sandbox', async () => {
  const { untilExited, out, err } = await fixture.run(fixture.spec(), { args: ['--version'] });
  expect(await untilExited()).toMatchObject({ exitCode: 0, oomKilled: false });
  expect(out()).toMatch(/^\d+\.\d+\.\d+ \(Claude Code\)\n$/);
  expect(err()).toBe('');
});

test('the real agent works through its socket, and its last line is in the spool', async () => {
  const spec = fixture.spec();
  const { host, untilExited, untilOut, out } = await fixture.run(spec, command);
  host.onOther(passToModel);
  const script = [
    { tool: 'Bash', input: { command: 'uname -s > made-by-agent && id -u', description: 'look' } },
    { text: 'All done: {{last_tool_result}}' },
  ];
  const message = { role: 'user', content: `@model ${JSON.stringify(script)}` };
  const uuid = '3a1c7d0e-5d43-4c44-8d0e-0f6f8f1a2b3c';
  host.push(JSON.stringify({ type: 'user', message, uuid }));
  await untilOut('"type":"result"');
  host.closeInput();
  expect(await untilExited()).toMatchObject({ exitCode: 0, oomKilled: false });
  const lines = out().trimEnd().split('\n');
  const results = lines.map((line) => JSON.parse(line) as Record<string, unknown>); // one object a line
  expect(results.findLast((line) => line.type === 'result')).toMatchObject({
    is_error: false,
    result: expect.stringMatching(/^All done: 10001/),
  });
  expect(readFileSync(join(spec.folders.workspace, 'made-by-agent'), 'utf8')).toBe('Linux\n');
  expect(host.requests.filter((line) => line.startsWith('CONNECT'))).toEqual([]);
  expect(model.requests().every(({ headers }) => headers['x-api-key'] === 'sandbox')).toBe(true);
});
