import { expect, test } from 'vitest';
import { createAddressFilter } from '../../../lib/net/public-address.ts';
import { createRunConfigStore } from '../../../systems/postgres/admission/run-config-store.ts';
import type { ApiFixture, Tenant } from '../../support/api-fixture.ts';
import { testSealer } from '../../support/database.ts';
import { type CallOptions, caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

interface Original extends Tenant {
  runId: string;
  retry: (options?: CallOptions) => ReturnType<ReturnType<typeof caller>>;
}

/** An ended run, with a function that retries it. */
async function ended(
  options: CallOptions,
  given?: Parameters<ApiFixture['tenant']>[0],
): Promise<Original> {
  const original = await startRun(options, given);
  await end(original.runId);
  return original;
}

async function startRun(
  options: CallOptions,
  given?: Parameters<ApiFixture['tenant']>[0],
): Promise<Original> {
  const tenant = await fixture.tenant(given);
  const call = caller(api, tenant.key);
  const made = await call(`/api/v1/flows/${tenant.flowId}/runs`, options);
  expect(made.status, made.text).toBe(201);
  const { runId } = made.json.data;
  const path = `/api/v1/runs/${runId}/retry`;
  return { ...tenant, runId, retry: (how = {}) => call(path, { method: 'POST', ...how }) };
}

const end = (runId: string) =>
  fixture.stores.runs.endRun({ runId, cause: 'stalled', detail: null, exitCode: 137 });

const full = {
  prompt: 'Write it',
  name: 'Nightly',
  labels: { order: '7' },
  partialMessages: true,
  callbackUrl: 'https://127.0.0.1:9443/hook?x=y',
  timeoutSeconds: 77,
  model: 'claude-opus-5',
  maxTurns: 5,
  maxBudgetUsd: 1.5,
  outputSchema: { type: 'object', properties: { n: { type: 'number' } } },
};

/** The stored request, which clients cannot read. */
async function stored(runId: string) {
  const { rows } = await fixture.database.pool.query(
    `select prompt, name, labels, partial_messages, callback_url, timeout_seconds, model, max_turns,
            max_budget_usd, output_schema, trigger_type, webhook_state
     from runs where id = $1`,
    [runId],
  );
  return rows[0];
}

test('starts a new run with the stored fields of the ended one', async () => {
  const { runId, flowId, key, retry } = await ended({ body: full });
  const retried = await retry();
  expect(retried.status, retried.text).toBe(201);
  const run = retried.json.data;
  expect(run).toMatchObject({
    flowId,
    name: 'Nightly',
    labels: { order: '7' },
    status: 'running',
    triggerType: 'api',
    retryOf: runId,
    finishedAt: null,
    exitCode: null,
    webhook: { state: 'waiting', attempts: 0 },
  });
  expect(run.runId).not.toBe(runId);
  expect(run).not.toHaveProperty('error');
  expect(retried.headers.get('location')).toBe(`/api/v1/runs/${run.runId}`);
  expect(fixture.asked.started).toContain(`run/${run.runId}`);
  expect(await stored(run.runId)).toEqual({ ...(await stored(runId)), webhook_state: 'waiting' });
  const read = await caller(api, key)(`/api/v1/runs/${runId}`);
  expect(read.json.data).toMatchObject({ retryOf: null, error: 'stalled', exitCode: 137 });
});

test('overrides stored fields, and does not change the original run', async () => {
  const { runId, retry } = await ended({ body: full });
  const before = await stored(runId);
  const retried = await retry({
    body: {
      prompt: 'Other',
      name: 'Again',
      labels: { a: 'b' },
      maxTurns: 6,
      partialMessages: false,
    },
    headers: { 'x-ctx-user': 'zoe' },
  });
  expect(retried.status).toBe(201);
  expect(await stored(retried.json.data.runId)).toMatchObject({
    prompt: 'Other',
    name: 'Again',
    labels: '{"a":"b"}',
    partial_messages: false,
    max_turns: 6,
    max_budget_usd: 1.5,
    model: 'claude-opus-5',
  });
  expect(await stored(runId)).toEqual(before);
});

const secrets = {
  env: { TOKEN: 'a' },
  mcpServers: { one: { type: 'http', url: 'https://one.example.com/' } },
  mcpMode: 'replace',
  appendSystemPrompt: 'Be brief.',
  disallowedTools: ['Bash'],
};

test('rejects a retry without the original secrets, naming each field', async () => {
  const given = { body: { prompt: 'Go', ...secrets }, headers: { 'x-ctx-user': 'zoe' } };
  const { runId, retry } = await ended(given);
  const all = ['env', 'mcpServers', 'mcpMode', 'appendSystemPrompt', 'disallowedTools'];
  const before = await fixture.database.pool.query('select count(*) from runs');
  const bare = await retry();
  expect([bare.status, bare.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  for (const field of all) expect(bare.json.error.message).toContain(`body.${field}`);
  expect(bare.json.error.message).toContain('headers.X-Ctx-*');
  for (const field of all) {
    const { [field]: _, ...others } = secrets as Record<string, unknown>;
    const { status, json } = await retry({ body: others, headers: given.headers });
    expect(status).toBe(400);
    expect(json.error.message).toMatch(new RegExp(`^body\\.${field}: `));
  }
  const noContext = await retry({ body: secrets });
  expect(noContext.json.error.message).toMatch(/^headers\.X-Ctx-\*: /);
  expect(await fixture.database.pool.query('select count(*) from runs')).toMatchObject({
    rows: before.rows,
  });

  const retried = await retry({ body: { ...secrets, env: {} }, headers: given.headers });
  expect([retried.status, retried.json.data.retryOf]).toEqual([201, runId]);
  const configs = createRunConfigStore(fixture.database.pool, testSealer);
  const config = await configs.read({ runId: retried.json.data.runId, generation: 1 });
  expect(config).toEqual({ ...secrets, env: {}, context: { user: 'zoe' } });
});

test('rejects a run that is active, deleted or of another project', async () => {
  const { runId, flowId, key, retry } = await startRun({ body: { prompt: 'Go' } });
  const early = await retry();
  expect([early.status, early.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  await caller(api, key)(`/api/v1/runs/${runId}/stop`, { body: {} });
  expect((await retry()).status).toBe(400);
  await end(runId);
  expect((await retry()).status).toBe(201);
  await caller(api, key)(`/api/v1/runs/${runId}`, { method: 'DELETE' });
  expect((await retry()).status).toBe(404);
  const other = await fixture.tenant();
  const foreign = await ended({ body: { prompt: 'Go' } });
  const path = `/api/v1/runs/${foreign.runId}/retry`;
  expect((await caller(api, other.key)(path, { body: {} })).status).toBe(403);
  expect((await caller(api, other.key)(path, { body: { prompt: 7 } })).status).toBe(400);
  expect((await caller(api, other.key)(`/api/v1/runs/${flowId}/retry`, { body: {} })).status).toBe(
    404,
  );
});

test('starts one retry for many requests with one idempotency key', async () => {
  const { retry, runId } = await ended({ body: { prompt: 'Go' } });
  const headers = { 'idempotency-key': 'retry-1' };
  const answers = await Promise.all(Array.from({ length: 10 }, () => retry({ headers })));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
  expect(new Set(answers.map(({ json }) => json.data.runId)).size).toBe(1);
  const replay = await retry({ body: { idempotencyKey: 'retry-1', prompt: 'Other' } });
  expect(replay.headers.get('idempotency-replayed')).toBe('true');
  expect(replay.json.data.retryOf).toBe(runId);
  expect((await retry({ headers, body: { idempotencyKey: 'other' } })).status).toBe(400);
});

test('applies the same limits as a trigger', async () => {
  const given = { maxConcurrentRuns: 1, monthlyRunQuota: 3 };
  const { retry, flowId, projectId } = await ended({ body: { prompt: 'Go' } }, given);
  const headers = { 'idempotency-key': 'first' };
  const first = await retry({ headers });
  expect(first.status).toBe(201);
  const capped = await retry();
  expect(capped.json.error).toMatchObject({ code: 'CONCURRENT_LIMIT', limit: 1, current: 1 });
  expect((await retry({ headers })).status).toBe(200);
  await end(first.json.data.runId);
  const last = await retry();
  expect(last.status).toBe(201);
  await end(last.json.data.runId);
  const spent = await retry();
  expect(spent.json.error).toMatchObject({ code: 'MONTHLY_QUOTA', limit: 3, current: 3 });
  await fixture.stores.projects.update(projectId, { monthlyRunQuota: 9 });
  await fixture.stores.flows.change(flowId, () => ({ runner: 'away' }));
  const offline = await retry();
  expect([offline.status, offline.json.error.code]).toEqual([409, 'RUNNER_OFFLINE']);
});

test('rejects a callback URL that is no longer allowed, unless it is replaced', async () => {
  const { retry, key, runId } = await ended({ body: full });
  expect((await retry()).status).toBe(201);
  const stricter = await fixture.start({ isCallbackAddressAllowed: createAddressFilter([]) });
  const call = caller(stricter, key);
  const refused = await call(`/api/v1/runs/${runId}/retry`, { method: 'POST' });
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toContain('body.callbackUrl');
  const callbackUrl = 'https://example.com/hook';
  expect((await call(`/api/v1/runs/${runId}/retry`, { body: { callbackUrl } })).status).toBe(201);
});

test("starts with the original run's own files, the flow's current ones, and its own", async () => {
  const utf8 = (path: string, content: string) => ({ path, content, encoding: 'utf8' });
  const files = [
    utf8('.flowignore', '*.own\n'),
    utf8('kept.own', 'first'),
    utf8('replaced.own', 'first'),
    utf8('shared.txt', 'first'),
  ];
  const { key, flowId, retry } = await ended({ body: { prompt: 'Go', files } });
  const call = caller(api, key);
  const later = { prompt: 'Go', files: [utf8('shared.txt', 'second'), utf8('other.own', 'x')] };
  expect((await call(`/api/v1/flows/${flowId}/runs`, { body: later })).status).toBe(201);
  const retried = await retry({ body: { files: [utf8('replaced.own', 'anew')] } });
  expect(retried.status, retried.text).toBe(201);
  const path = `/api/v1/runs/${retried.json.data.runId}/files`;
  const listed: { path: string; scope: string }[] = (await call(path)).json.data;
  expect(listed.map((file) => [file.path, file.scope])).toEqual([
    ['.flowignore', 'flow'],
    ['kept.own', 'run'],
    ['replaced.own', 'run'],
    ['shared.txt', 'flow'],
  ]);
  const contents = [];
  for (const file of listed.slice(1)) contents.push((await call(`${path}/${file.path}`)).text);
  expect(contents).toEqual(['first', 'anew', 'second']);
});
