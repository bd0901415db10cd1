// Model calls from a sandbox without network: what programs in the sandbox, and the real agent's
// own settings, can change.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelScript } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

const patiently = { timeout: 180_000 };

let service: Service;
beforeAll(async () => {
  const network = { policy: 'none' as const, allowedHosts: [] };
  service = await startService({ agent: 'real', flow: { network } });
}, 240_000);
afterAll(() => service?.stop());

const bash = (command: string) => ({ tool: 'Bash', input: { command } });

async function run(...steps: object[]) {
  const prompt = modelScript([...steps, { text: 'Done.' }]);
  const { runId } = await service.trigger({ prompt });
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
    expect(service.worker.log()).not.toMatch(/model_request_refused|beta_flag_removed/);
  },
);

const remote = { type: 'url', url: 'https://canary.example/?d=secret' };
const picture = (source: object) => ({
  messages: [{ role: 'user', content: [{ type: 'image', source }] }],
});
/** What the model API must not do for an agent without network, and the field that is refused. */
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
    const logged = service.worker.log().match(/"(?:model_request_refused|beta_flag_removed)"/g);
    expect(logged?.length).toBe(5); // each field once, and the flag
  },
);

const hook = { type: 'command', command: 'echo "a hook ran" >> /workspace/seen' };
/** Settings that take effect while the agent runs. No server listens at the address. */
const settings = {
  env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', NO_PROXY: '', CLAUDE_CODE_USE_BEDROCK: '1' },
  hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }], SessionStart: [{ hooks: [hook] }] },
};

test(
  'settings that the agent writes redirect no model request and run no hook',
  patiently,
  async () => {
    const runId = await run(
      bash(`echo '${JSON.stringify(settings)}' > "$CLAUDE_CONFIG_DIR/settings.json"; sleep 2`),
      bash('echo "still here" >> seen'),
      // The control: the same settings take effect in an agent that is started without the pinned
      // settings.
      bash(
        'claude -p hello & until grep -q hook seen; do sleep 0.1; done; kill %1; echo ended >> seen',
      ),
    );
    expect(await linesOf(runId, 'seen')).toEqual(['still here', 'a hook ran', 'ended']);
  },
);
