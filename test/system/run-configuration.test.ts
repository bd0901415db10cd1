// The configuration that a run passes to its sandbox, as seen by the real agent and its model, and
// the places where none of it may be found.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createEngine } from '../../systems/docker/engine.ts';
import { databaseText, historyText, processList } from '../support/collect-all-output.ts';
import { modelScript } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { collect } from '../support/stream-story.ts';

const patiently = { timeout: 180_000 };
const canary = (): string => `canary${randomBytes(8).toString('hex')}`;
const secrets = { env: canary(), header: canary(), appended: canary(), context: canary() };

let service: Service;
beforeAll(async () => {
  service = await startService({ agent: 'real', flow: { instructions: 'Always be brief.' } });
}, 240_000);
afterAll(() => service?.stop());

const bash = (command: string) => ({ tool: 'Bash', input: { command } });

interface ModelRequest {
  model: string;
  max_tokens?: number;
  system: unknown;
  tools?: { name: string }[];
  messages: unknown[];
}

/** The model requests of a run, found by a word of its prompt. */
function requestsOf(word: string): ModelRequest[] {
  const all = service.model.requests().map(({ body }) => body as ModelRequest); // the CLI's own
  return all.filter((request) => request.tools && JSON.stringify(request.messages).includes(word));
}

async function waitForFrame(runId: string, text: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await service.database.pool.query(
        'select 1 from frames where run_id = $1 and strpos(data, $2) > 0',
        [runId, text],
      );
      expect(rows.length).toBeGreaterThan(0);
    },
    { timeout: 120_000, interval: 200 },
  );
}

/** Everything that is written or shown outside the sandbox during the run. */
async function everythingOutside(runId: string): Promise<Record<string, string>> {
  const [sandbox] = await service.sandboxes.list();
  const { docker } = createEngine({ dockerHost: stackEnv.dockerHost, instance: service.instance });
  const inspected = await docker.getContainer(sandbox?.containerId ?? '').inspect();
  return {
    inspected: JSON.stringify(inspected),
    processes: processList(),
    history: await historyText(`run/${runId}`),
    database: await databaseText(service.database.pool),
    apiLog: service.api.log(),
    workerLog: service.worker.log(),
    disk: onDisk(['--exclude-dir=projects']),
    record: JSON.stringify(await service.readRun(runId)),
  };
}

/** The agent's own records, system prompt included, are below `projects`. */
function onDisk(options: string[] = []): string {
  const args = ['-rhaE', 'canary|runId', ...options, service.dataDir];
  return execFileSync('grep', args).toString('latin1');
}

test('reaches the agent, its tools and its model, and is nowhere else', patiently, async () => {
  const { runId } = await service.trigger(
    {
      prompt: modelScript([
        bash('echo "word: $GREETING by $FLOW_CTX_USER_ID of ${#SECRET}, home is $HOME"'),
        bash('cd / && git --version'),
        bash('sleep 8'),
        { tool: 'StructuredOutput', input: { answer: 42 } },
      ]),
      env: { GREETING: 'Grüße', SECRET: secrets.env },
      mcpServers: {
        unreached: {
          type: 'http',
          url: 'http://127.0.0.1:9/',
          headers: { 'x-token': secrets.header, 'x-other': '${SECRET}' },
        },
      },
      appendSystemPrompt: `Never say ${secrets.appended}.`,
      disallowedTools: ['Write', 'WebFetch', 'Bash(git:*)'],
      outputSchema: {
        type: 'object',
        properties: { answer: { type: 'number' } },
        required: ['answer'],
      },
      model: 'claude-haiku-4-5',
    },
    { 'X-Ctx-User-Id': 'u-17', 'X-Ctx-Secret': secrets.context },
  );
  await waitForFrame(runId, 'sleep 8');
  const outside = await everythingOutside(runId);
  const kept = await service.database.pool.query('select 1 from run_configs');
  expect(kept.rows).toEqual([]);
  for (const [where, text] of Object.entries(outside)) {
    expect(text.length, where).toBeGreaterThan(100);
    const found = Object.entries(secrets).filter(([, secret]) => text.includes(secret));
    expect(found, where).toEqual([]);
  }

  const events = await collect(service.stream(runId));
  const streamed = events.map(({ data }) => data).join('\n');
  expect(streamed).toContain(`word: Grüße by u-17 of ${secrets.env.length}, home is /home/agent`);
  expect(streamed).toContain(
    'Permission to use Bash with command cd / && git --version has been denied',
  );
  for (const secret of Object.values(secrets)) expect(streamed).not.toContain(secret);
  const init = events.find(({ event, data }) => event === 'system' && data.includes('"init"'));
  const { tools, model: named } = JSON.parse(init?.data ?? '{}') as {
    tools: string[];
    model: string;
  };
  expect(named).toBe('claude-haiku-4-5');
  expect(tools).toContain('Bash');
  expect(tools.filter((tool) => ['Write', 'WebFetch'].includes(tool))).toEqual([]);

  const [request] = requestsOf('sleep 8');
  const system = JSON.stringify(request?.system);
  expect(request?.model).toBe('claude-haiku-4-5');
  expect(system).toContain(`Always be brief.\\n\\nNever say ${secrets.appended}.`);
  expect(JSON.stringify(request?.tools)).not.toMatch(/"name":"(Write|WebFetch)"/);
  // The agent gets only the names of tools that it looks up on demand.
  const later = JSON.stringify(request?.messages);
  expect(later).toContain('\\nNotebookEdit\\n');
  expect(later).not.toContain('\\nWebFetch\\n');
  // It runs on servers of the model API, which the policy of this flow does not permit.
  expect(later).not.toContain('\\nWebSearch\\n');
  expect(await service.untilEnded(runId)).toMatchObject({
    structuredOutput: { answer: 42 },
    mcpServerNames: ['unreached'],
  });
  await vi.waitFor(() => {
    expect(Object.values(secrets).filter((secret) => onDisk().includes(secret))).toEqual([]);
  }, 30_000);
});

test.each([
  ['sonnet', 'claude-sonnet-5-5'],
  ['opusplan', 'claude-sonnet-5-5'],
  ['fable', 'claude-fable-5-2'],
  ['claude-opus-4-1', 'claude-opus-5-5'],
])(
  'a run of model %s may call what its agent calls for that: %s',
  patiently,
  async (name, called) => {
    const word = `called-${name}`;
    const run = await service.trigger({ prompt: modelScript([{ text: word }]), model: name });
    expect(await service.untilEnded(run.runId)).toMatchObject({ exitCode: 0, result: word });
    const seen = requestsOf(word).map((request) => request.model);
    expect(seen).toEqual([called]);
  },
);

test('limits end a run with their own causes and its cost so far', patiently, async () => {
  const steps = Array.from({ length: 5 }, (_, at) => bash(`echo ${at}`));
  // $0.28 each, with the prices of the agent's default model.
  const usage = { input_tokens: 10_000, output_tokens: 12_000 };
  const costly = steps.flatMap((step) => [{ usage }, step]);
  const [turns, budget] = await Promise.all([
    service.trigger({ prompt: modelScript(steps), maxTurns: 2 }),
    service.trigger({ prompt: modelScript(costly), maxBudgetUsd: 1 }),
  ]);
  expect(await service.untilEnded(turns.runId, 150_000)).toMatchObject({
    error: 'max_turns_exceeded',
    agentStatus: 'error',
  });
  const spent = await service.untilEnded(budget.runId, 150_000);
  expect(spent).toMatchObject({ error: 'budget_exceeded', agentStatus: 'error' });
  expect([0.56, 0.84]).toContain(spent.costUsd);
  expect(spent.usage['outputTokens']).toBe(Math.round((spent.costUsd ?? 0) / 0.28) * 12_000);
  expect(requestsOf('"usage').map((request) => request.max_tokens)).toContain(12_500);
});
