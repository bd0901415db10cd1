import { beforeAll, describe, expect, test } from 'vitest';
import { caller } from './call.ts';
import { refusedFields, takenFields } from './field-bodies.ts';
import { many, one, refusedServers, server, takenServers } from './server-bodies.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();
let runs: string;

beforeAll(async () => {
  runs = `/api/v1/flows/${tenant.flowId}/runs`;
});

test.each([...refusedServers, ...refusedFields])(
  'rejects %s with the path, and starts nothing',
  async (_what, body, says) => {
    const before = fixture.asked.started.length;
    const answer = await call(runs, { body: { prompt: 'Go', ...body } });
    expect([answer.status, answer.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.json.error.message).toContain(says);
    expect(fixture.asked.started).toHaveLength(before);
  },
);

test.each([...takenServers, ...takenFields])('accepts %s', async (_what, body) => {
  const answer = await call(runs, { body: { prompt: 'Go', ...body } });
  expect(answer.status, answer.text).toBe(201);
});

test('rejects an excessively nested schema without a 500', async () => {
  const deep = `${'{"a":'.repeat(8_000)}1${'}'.repeat(8_000)}`;
  for (const outputSchema of [`{"type":"object","not":${deep}}`, deep]) {
    const answer = await call(runs, { body: `{"prompt":"Go","outputSchema":${outputSchema}}` });
    expect(answer.status).toBe(400);
  }
});

describe('servers and an idempotency key', () => {
  const mcpServers = { docs: server };
  test('are rejected together, with the key as header or field', async () => {
    const byField = await call(runs, { body: { prompt: 'Go', idempotencyKey: 'm', mcpServers } });
    const byHeader = await call(runs, {
      body: { prompt: 'Go', mcpServers },
      headers: { 'idempotency-key': 'm' },
    });
    for (const { status, json } of [byField, byHeader]) {
      expect(status).toBe(400);
      expect(json.error.message).toContain('body.mcpServers: cannot be combined with an idem');
    }
    const env = { idempotencyKey: 'm', env: { A: 'b' }, appendSystemPrompt: 'x' };
    expect((await call(runs, { body: { prompt: 'Go', ...env } })).status).toBe(201);
  });
});

describe('X-Ctx headers', () => {
  const send = (headers: Record<string, string>) => call(runs, { body: { prompt: 'Go' }, headers });

  test('are stored for operators, and never returned', async () => {
    const value = Buffer.from('Grüße 世界').toString('latin1');
    const { json, text } = await send({ 'X-Ctx-User-Id': 'canary-17', 'x-ctx-where': value });
    expect(text).not.toContain('canary');
    const read = await call(`/api/v1/runs/${json.data.runId}`);
    expect(read.text).not.toContain('canary');
    expect(await fixture.stores.configs.context(json.data.runId)).toEqual({
      'user-id': 'canary-17',
      where: 'Grüße 世界',
    });
    expect(api.log()).not.toContain('canary');
  });

  test('are limited to twenty of 256 characters', async () => {
    const headers = (count: number, value: string) =>
      many(count, 'X-Ctx-N', value) as Record<string, string>;
    expect((await send(headers(20, 'x'.repeat(256)))).status).toBe(201);
    expect((await send(headers(21, 'x'))).status).toBe(400);
    const long = await send(headers(1, 'x'.repeat(257)));
    expect(long.status).toBe(400);
    expect(long.json.error.message).toContain('headers.x-ctx-n0: must be at most 256');
    const emoji = Buffer.from('😀'.repeat(256)).toString('latin1');
    expect((await send(headers(1, emoji))).status).toBe(201);
    expect((await send({ 'x-ctx-a': '\xe9' })).status).toBe(400);
  });

  test('must have names that map unambiguously to variables', async () => {
    for (const name of [
      'X-Ctx-',
      'X-Ctx--a',
      'X-Ctx-a_b',
      'X-Ctx-a.b',
      `X-Ctx-${'a'.repeat(65)}`,
    ]) {
      expect((await send({ [name]: 'x' })).status, name).toBe(400);
    }
    expect((await send({ [`X-Ctx-${'a'.repeat(64)}`]: 'x', 'X-Ctx-4a-b': 'x' })).status).toBe(201);
  });
});

describe('the created run', () => {
  test('has the requested values, or those of its flow', async () => {
    const flow = { model: 'opus', timeoutSeconds: 90, limits: { maxTurns: 7, maxBudgetUsd: 2 } };
    const bounded = await fixture.tenant({ flow });
    const path = `/api/v1/flows/${bounded.flowId}/runs`;
    const trigger = async (body: object) => {
      const { json } = await caller(api, bounded.key)(path, { body: { prompt: 'Go', ...body } });
      return fixture.stores.runs.find(json.data.runId);
    };
    expect(await trigger({})).toMatchObject({
      ...{ model: 'opus', timeoutSeconds: 90, maxTurns: 7, maxBudgetUsd: 2 },
    });
    const requested = { model: 'haiku', timeoutSeconds: 5, maxTurns: 1, maxBudgetUsd: 0.5 };
    expect(await trigger(requested)).toMatchObject(requested);
    expect((await trigger({}))?.timeoutSeconds).toBe(90);
  });

  test('has no budget if the price of its model is unknown', async () => {
    const flow = { model: 'my-model', limits: { maxTurns: null, maxBudgetUsd: 2 } };
    const bounded = await fixture.tenant({ flow });
    const trigger = async (body: object) => {
      const path = `/api/v1/flows/${bounded.flowId}/runs`;
      return caller(api, bounded.key)(path, { body: { prompt: 'Go', ...body } });
    };
    for (const body of [{}, { maxBudgetUsd: 1 }, { model: 'other' }]) {
      const { status, json } = await trigger(body);
      expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(json.error.message).toContain('body.maxBudgetUsd: cannot be enforced');
    }
    expect((await trigger({ model: 'sonnet' })).status).toBe(201);
  });

  test('returns the names of its servers and nothing else of its configuration', async () => {
    const secrets = { env: {}, mcpServers: { own: server, docs: server } as const };
    const flow = await fixture.tenant({
      flow: { secrets: { env: {}, mcpServers: { own: { ...server, type: 'http' } } } },
    });
    expect(Object.keys(secrets.mcpServers)).toHaveLength(2);
    const body = {
      prompt: 'Go',
      ...one({ headers: { 'X-Secret': '${T}' } }),
      env: { T: 'canary' },
      appendSystemPrompt: 'canary',
      disallowedTools: ['Canary'],
    };
    const path = `/api/v1/flows/${flow.flowId}/runs`;
    const merged = await caller(api, flow.key)(path, { body });
    expect(merged.json.data.mcpServerNames).toEqual(['docs', 'own']);
    const replaced = await caller(api, flow.key)(path, { body: { ...body, mcpMode: 'replace' } });
    expect(replaced.json.data.mcpServerNames).toEqual(['docs']);
    const read = await caller(api, flow.key)(`/api/v1/runs/${merged.json.data.runId}`);
    for (const { text } of [merged, replaced, read]) expect(text).not.toMatch(/canary/i);
    const { rows } = await fixture.database.pool.query('select sealed from run_configs');
    expect(rows.map(({ sealed }) => sealed.toString('latin1')).join()).not.toMatch(/canary/i);
    expect(api.log()).not.toMatch(/canary/i);
  });
});
