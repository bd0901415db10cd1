// Model calls from a sandbox without network: what programs in the sandbox, and the real agent's
// own settings, can change.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import type { RunRecord } from '../support/api-client.ts';
import { modelScript } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';

const patiently = { timeout: 180_000 };

let service: Service;
beforeAll(async () => {
  const network = { policy: 'none' as const, allowedHosts: [] };
  service = await startService({ agent: 'real', flow: { network } });
}, 240_000);
afterAll(() => service?.stop());

const bash = (command: string) => ({ tool: 'Bash', input: { command } });

const run = (...steps: object[]) => runWith([], steps);

/** `files` are in the working directory before the agent starts. */
async function runWith(files: object[], steps: object[]) {
  const prompt = modelScript([...steps, { text: 'Done.' }]);
  const { runId } = await service.trigger({ prompt, files });
  const ended = await service.untilEnded(runId, 150_000);
  expect(ended).toMatchObject({ exitCode: 0, result: expect.any(String) });
  expect(ended).not.toHaveProperty('error');
  return runId;
}

/** The lines of a file in the run's snapshot. */
async function linesOf(runId: string, file: string): Promise<string[]> {
  const { body } = await service.call('GET', `/runs/${runId}/files/${file}`);
  return String(body).trimEnd().split('\n');
}

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const secondAgent = {
  description: 'count',
  prompt: modelScript([bash('ls *.png > counted'), { text: 'Counted.' }]),
  subagent_type: 'general-purpose',
};

test(
  'the agent works with tools, a picture and a second agent, and nothing of it is refused',
  patiently,
  async () => {
    const runId = await run(
      bash(`echo ${pixel} | base64 -d > pixel.png`),
      { tool: 'Read', input: { file_path: '/workspace/pixel.png' } },
      { tool: 'Agent', input: secondAgent },
      bash('until test -s counted; do sleep 0.1; done'),
    );
    expect(await linesOf(runId, 'counted')).toEqual(['pixel.png']);
    const requests = JSON.stringify(service.model.requests().map(({ body }) => body));
    expect(requests).toContain('"source":{"type":"base64"');
    expect(service.worker.log()).not.toMatch(/model_call_refused|beta_flag_removed/);
  },
);

const remote = { type: 'url', url: 'https://canary.example/?d=secret' };
const picture = (source: object) => ({
  messages: [{ role: 'user', content: [{ type: 'image', source }] }],
});
/**
 * Requests that the model API must not execute for an agent without network, with the refused
 * field.
 */
const forbidden: [field: string, fields: object][] = [
  ['mcp_servers', { mcp_servers: [{ ...remote, name: 'a' }] }],
  ['messages.0.content.0.source.type', picture(remote)],
  ['messages.0.content.0.source.type', picture({ type: 'file', file_id: 'file_1' })],
  ['tools.0.type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['container', { container: 'container_1' }],
  ['tools.0.type', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
];
const permitted = {
  model: 'claude-haiku-5-5',
  max_tokens: 1,
  messages: [{ role: 'user', content: 'hello' }],
  metadata: { user_id: 'sent by curl' },
};

/** Sends the body with curl instead of the agent, and appends the answer to a file. */
const send = (fields: object): string => `curl -s "$ANTHROPIC_BASE_URL/v1/messages" \
  -H "x-api-key: $ANTHROPIC_API_KEY" -H 'anthropic-beta: mcp-client-2025-04-04' \
  -d '${JSON.stringify({ ...permitted, ...fields })}' |
  jq -r '.error.message // .type' >> answers`;

test(
  'no program in a sandbox without network makes the model API act outside it',
  patiently,
  async () => {
    const bodies = [...forbidden.map(([, fields]) => fields), {}];
    const runId = await run(bash(bodies.map(send).join('\n')));
    const fields = (await linesOf(runId, 'answers')).map((line) => line.split(':', 1)[0]);
    expect(fields).toEqual([...forbidden.map(([field]) => field), 'message']);
    const received = service.model
      .requests()
      .filter(({ body }) => JSON.stringify(body).endsWith('{"user_id":"sent by curl"}}'));
    expect(received.map(({ body }) => body)).toEqual([permitted]);
    expect(received[0]?.headers).not.toHaveProperty('anthropic-beta');
    const logged = service.worker.log().match(/"(?:model_call_refused|beta_flag_removed)"/g);
    expect(logged?.length).toBe(5); // each field once, and the flag
  },
);

const others: [method: string, path: string][] = [
  ['GET', '/v1/files'],
  ['POST', '/v1/files'],
  ['POST', '/v1/messages/batches'],
  ['GET', '/v1/messages/batches'],
  ['GET', '/v1/organizations'],
  ['GET', '/v1/models'],
  ['GET', '/v1/messages'],
];

test(
  'a program in a sandbox without network reaches nothing of the model API but its messages',
  patiently,
  async () => {
    const sendTo = ([method, path]: [string, string]): string =>
      `curl -s -X ${method} "$ANTHROPIC_BASE_URL${path}" -H "x-api-key: $ANTHROPIC_API_KEY" \
        -d '${JSON.stringify(permitted)}' -w '\n%{http_code}\n' |
        jq -r '(.error.message)? // .' >> answers`;
    const before = service.model.requests().length;
    const runId = await run(bash(others.map(sendTo).join('\n')));
    const refusals = others.map(([, path]) =>
      path === '/v1/messages'
        ? ['only POST is served', '405']
        : ['only the messages API is served', '404'],
    );
    expect(await linesOf(runId, 'answers')).toEqual(refusals.flat());
    const received = service.model.requests().slice(before);
    expect(
      received.filter(({ body }) => JSON.stringify(body) === JSON.stringify(permitted)),
    ).toEqual([]);
  },
);

const webSearch = {
  tool: 'WebSearch',
  input: {
    query: modelScript([
      {
        usage: { input_tokens: 50, output_tokens: 5, server_tool_use: { web_search_requests: 3 } },
      },
      { text: 'Found.' },
    ]),
  },
};

test(
  'the agent searches the web at the cost of each search, if the policy is open, and not otherwise',
  patiently,
  async () => {
    const flowId = await openFlow();
    const [open, closed] = await Promise.all([searchIn(flowId), searchIn(service.flowId)]);
    // $0.03 for the searches; the tokens are 50 × $4 and 5 × $20 per million.
    const searches = [{ model: 'claude-opus-5-5', searches: 3, nanos: 30_300_000 }];
    expect(open).toEqual({ isOffered: true, searches });
    expect(closed).toEqual({ isOffered: false, searches: [] });
  },
);

/** Whether the agent may search, and its searches in the ledger. */
async function searchIn(flowId: string) {
  const prompt = modelScript([webSearch, { text: 'Done.' }]);
  const body = { prompt, model: 'claude-opus-5-5' };
  const { data } = await service.call<RunRecord>('POST', `/flows/${flowId}/runs`, { body });
  expect(await service.untilEnded(data.runId, 150_000)).toMatchObject({ result: 'Done.' });
  const events = await collect(service.stream(data.runId));
  const init = events.find(({ event, data: line }) => event === 'system' && /"init"/.test(line));
  const { tools } = JSON.parse(init?.data ?? '{}') as { tools: string[] };
  const text = `select model, web_searches::int as searches, cost_nanos::bigint as nanos
    from model_calls where run_id = $1 and web_searches > 0`;
  const { rows } = await service.database.pool.query(text, [data.runId]);
  return { isOffered: tools.includes('WebSearch'), searches: rows };
}

async function openFlow(): Promise<string> {
  const { database, projectId, encryptionKey } = service;
  const flows = createFlowStore(database.pool, createSealer(encryptionKey));
  const network = { policy: 'open' as const, allowedHosts: [] };
  return (await flows.create({ projectId, name: 'Open', network })).flowId;
}

const hook = { type: 'command', command: 'echo "a hook ran" >> /workspace/seen' };
/** Settings that take effect while the agent runs. No server listens at the address. */
const settings = {
  env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', NO_PROXY: '', CLAUDE_CODE_USE_BEDROCK: '1' },
  hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }], SessionStart: [{ hooks: [hook] }] },
  apiKeyHelper: 'touch /workspace/helped; echo another-key',
};
/** The variable shows whether the agent reads a file, even if nothing else of it takes effect. */
const settingsOfProject = ['settings.json', 'settings.local.json'].map((name) => ({
  path: `.claude/${name}`,
  content: JSON.stringify({ ...settings, env: { ...settings.env, READ: name } }),
  encoding: 'utf8',
}));

test(
  'settings that the agent writes, or finds in its directory, redirect no model request and run nothing',
  patiently,
  async () => {
    const runId = await runWith(settingsOfProject, [
      bash(`echo '${JSON.stringify(settings)}' > "$CLAUDE_CONFIG_DIR/settings.json"; sleep 2`),
      bash('echo "still here$READ" >> seen; test -e helped && echo "helped" >> seen'),
      // The control: the same settings take effect in an agent that is started without the pinned
      // settings.
      bash(
        'claude -p hello & until grep -q hook seen; do sleep 0.1; done; kill %1; echo ended >> seen',
      ),
    ]);
    expect(await linesOf(runId, 'seen')).toEqual(['still here', 'a hook ran', 'ended']);
  },
);
