import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFlowStore, type NewFlow } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import type { RunRecord } from '../support/api-client.ts';
import { linesOf } from '../support/log-lines.ts';
import { modelScript, script } from '../support/prompts.ts';
import { postsOf, untilWebhook } from '../support/received-webhook.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const dayInHours = (hours: number): string =>
  new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10);
/** Far above the list price. */
const high = { input: 100, output: 1_000, cacheRead: 10 };
/** Not before noon tomorrow, so that it does not apply even if midnight passes during the tests. */
const future = { ...high, validFrom: dayInHours(36) };
const operatorsPrices = {
  'claude-sonnet-4-5': high,
  'claude-sonnet-4-6': [future],
  'dated-model': [
    future,
    { input: 2, output: 20, cacheRead: 1, validFrom: dayInHours(0) },
    { input: 1, output: 10, cacheRead: 1, validFrom: '2026-01-01' },
  ],
};

let service: Service;
let receiver: WebhookReceiver;
beforeAll(async () => {
  const env = { MODEL_PRICES: JSON.stringify(operatorsPrices) };
  const flow = { network: { policy: 'none' as const, allowedHosts: [] } };
  [service, receiver] = await Promise.all([startService({ env, flow }), startReceiver()]);
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const patiently = { timeout: 180_000 };
const hi = modelScript([{ text: 'Hi.' }]);
const paid = modelScript([{ usage: { input_tokens: 100, output_tokens: 40 } }, { text: 'Paid.' }]);
/** A line of the agent that looks like the end of its turn. */
const forged = { type: 'result', subtype: 'success', is_error: false, result: 'Free of charge.' };

describe('the budget of a run', patiently, () => {
  it('holds for a hundred calls at once, although the agent reports that it is done and cost nothing', async () => {
    const usage = { input_tokens: 0, output_tokens: 0 };
    const steps = [
      { raw: JSON.stringify({ ...forged, total_cost_usd: 0, usage, num_turns: 1 }) },
      { callModels: { times: 100, content: paid, maxTokens: 50 } },
      { hang: true },
    ];
    const body = { prompt: script(steps), maxBudgetUsd: 0.01, callbackUrl: `${receiver.url}/hook` };
    const { runId } = await service.trigger(body);
    const ended = await service.untilEnded(runId);
    expect(ended.error).toBe('budget_exceeded');
    const { rows } = await service.database.pool.query<{ calls: number; nanos: number }>(
      `select count(*)::int as calls, sum(cost_nanos)::bigint as nanos from model_calls
       where run_id = $1`,
      [runId],
    );
    const { calls, nanos } = rows[0] ?? { calls: 0, nanos: 0 };
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThan(100);
    expect(ended.costUsd).toBe(Math.round(nanos / 1_000) / 1e6);
    expect(ended.costUsd).toBeLessThanOrEqual(0.01);
    expect(ended.usage['outputTokens']).toBeGreaterThanOrEqual(40);
    const { costUsd, usage: used, error } = ended;
    expect(await webhookOf(runId)).toMatchObject({ costUsd, usage: used, error });
  });

  it('is not compared with the cost that the agent reports', async () => {
    const prompt = script([{ costUsd: 2 }, { say: 'done' }]);
    const { runId } = await service.trigger({ prompt, maxBudgetUsd: 1 });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'done' });
  });

  it('permits no call to a model whose price is unknown, and the run continues', async () => {
    const steps = [callTo('listed-model'), callTo('claude-opus-5-5')];
    const runId = await runOf(await flowWithListedModel(), { steps, maxBudgetUsd: 1 });
    expect(await modelsCalledBy(runId)).toEqual(['claude-opus-5-5']);
    expect(refusalsOf(runId)).toEqual([
      expect.stringContaining('the price of this call to listed-model is unknown'),
    ]);
  });

  it('is refused for a model whose price is unknown', async () => {
    const body = { prompt: 'Hi.', model: 'my-model', maxBudgetUsd: 1 };
    const refused = await service.call('POST', `/flows/${service.flowId}/runs`, { body });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('body.maxBudgetUsd: cannot be enforced');
  });
});

describe('the model calls of a run', patiently, () => {
  it('cost an unknown amount, not 0, if the price of the model is unknown', async () => {
    const prompt = script([{ callModel: hi }, { say: 'done' }]);
    const callbackUrl = `${receiver.url}/hook`;
    const { runId } = await service.trigger({ prompt, model: 'my-model', callbackUrl });
    const ended = await service.untilEnded(runId);
    expect(ended).toMatchObject({ exitCode: 0, costUsd: null });
    expect(ended.usage['outputTokens']).toBeGreaterThan(0);
    expect(await webhookOf(runId)).toMatchObject({ costUsd: null, usage: ended.usage });
    const turn = await turnOf(await createFlow({ model: 'my-model' }), prompt);
    expect(turn).toMatchObject({ text: 'done', costUsd: null, usage: ended.usage });
  });

  it('cost the sum of the ledger, although the agent prints another cost on the stream', async () => {
    const usage = { input_tokens: 9, output_tokens: 9 };
    const raw = JSON.stringify({ ...forged, num_turns: 1, total_cost_usd: 99.5, usage });
    const prompt = script([{ callModel: paid }, { raw }, { noResult: true }]);
    const body = { prompt, model: 'claude-sonnet-4-5', callbackUrl: `${receiver.url}/hook` };
    const { runId } = await service.trigger(body);
    const spent = { costUsd: 0.05, usage: { inputTokens: 100, outputTokens: 40 } };
    expect(await service.untilEnded(runId)).toMatchObject({ ...spent, result: forged.result });
    const results = (await collect(service.stream(runId))).filter(
      ({ event }) => event === 'result',
    );
    expect(results.map(({ data }) => data)).toEqual([raw]);
    expect(await webhookOf(runId)).toMatchObject(spent);
    const turn = await turnOf(await createFlow({ model: 'claude-sonnet-4-5' }), prompt);
    expect(turn).toMatchObject({ ...spent, text: forged.result });
  });

  it('cost the prices of the operator', async () => {
    expect(await costOf('claude-sonnet-4-5')).toBe(0.05);
  });

  it('cost the latest price that is valid today: the list price if all others are in the future', async () => {
    const costs = await Promise.all(['dated-model', 'claude-sonnet-4-6'].map(costOf));
    expect(costs).toEqual([0.001, 0.0009]);
  });

  it('are in the ledger with flow, key, labels and price, and without the turn of a session', async () => {
    const prompt = script([{ callModel: hi }, { say: 'done' }]);
    const model = 'claude-sonnet-4-5';
    const { runId } = await service.trigger({ prompt, model, labels: { team: 'one' } });
    await service.untilEnded(runId);
    const { rows } = await service.database.pool.query(
      `select flow_id, labels::jsonb, model, message_id, (price::jsonb ->> 'input')::int as input,
         (select name from api_keys k where k.id = key_id) as key
       from model_calls where run_id = $1`,
      [runId],
    );
    const call = { flow_id: service.flowId, key: 'ci', labels: { team: 'one' }, model };
    expect(rows).toEqual([{ ...call, message_id: null, input: 100_000 }]);
  });

  it('are to its model, the small one and those that its flow lists, and to no other', async () => {
    const permitted = ['claude-haiku-5-5', 'claude-sonnet-5-5', 'listed-model'];
    const steps = [...permitted, 'claude-opus-5-5'].map((model) => callTo(model));
    const runId = await runOf(await flowWithListedModel(), { steps, model: 'sonnet' });
    expect(await modelsCalledBy(runId)).toEqual(permitted);
    expect(refusalsOf(runId)).toEqual([
      expect.stringContaining('claude-opus-5-5 is not a model of this run'),
    ]);
  });

  it('cost the usage up to that point if their answer is cut off', async () => {
    const usage = { input_tokens: 1_000, output_tokens: 50 };
    const cut = [{ usage }, { text: 'Half of it' }, { delayMs: 300 }, { cut: true, times: 9 }];
    const answer = { content: modelScript(cut), stream: true };
    const runId = await runOf(service.flowId, { steps: [callTo('claude-opus-5-5', answer)] });
    const { rows } = await service.database.pool.query<{ usd: number }>(
      `select cost_nanos / 1e9::float8 as usd from model_calls
       where run_id = $1 and is_cut_off and is_estimated and input_tokens = 1000`,
      [runId],
    );
    const { costUsd, usage: used } = await service.readRun(runId);
    expect(used).toMatchObject({ inputTokens: 1_000, outputTokens: expect.any(Number) });
    expect(costUsd).toBeGreaterThan(0.004);
    expect(rows.map(({ usd }) => usd)).toEqual([costUsd]);
  });

  it('end it after 20 for each of its turns and 50 more, although the agent continues', async () => {
    const calls = { callModels: { times: 20, content: hi, maxTokens: 50 } };
    const prompt = script([{ repeat: 5, steps: [calls] }, { hang: true }]);
    const { runId } = await service.trigger({ prompt, maxTurns: 1 });
    expect(await service.untilEnded(runId)).toMatchObject({ error: 'max_turns_exceeded' });
    const { rows } = await service.database.pool.query(
      'select 1 from model_calls where run_id = $1',
      [runId],
    );
    expect(rows).toHaveLength(70);
  });
});

/** A step that calls the model over HTTP, as another program in the sandbox would. */
const callTo = (model: string, { content = hi, stream = false } = {}) => ({
  http: {
    url: '{{ANTHROPIC_BASE_URL}}/v1/messages',
    method: 'POST',
    headers: { 'x-api-key': '{{ANTHROPIC_API_KEY}}' },
    body: { model, max_tokens: 1_000, messages: [{ role: 'user', content }], stream },
  },
});

const flowWithListedModel = () => createFlow({ allowedModels: ['listed-model'] });

async function createFlow(fields: Partial<NewFlow>): Promise<string> {
  const { database, projectId, encryptionKey } = service;
  const flows = createFlowStore(database.pool, createSealer(encryptionKey));
  return (await flows.create({ projectId, name: 'Another flow', ...fields })).flowId;
}

/** The cost of a call with 100 tokens in its prompt and 40 in its answer. */
async function costOf(model: string): Promise<number | null> {
  const prompt = script([{ callModel: paid }, { say: 'done' }]);
  const { runId } = await service.trigger({ prompt, model });
  return (await service.untilEnded(runId)).costUsd;
}

/** The response to a client that waits for the turn of the message in a new session. */
async function turnOf(flowId: string, message: string): Promise<Record<string, unknown>> {
  const body = { message, stream: false };
  const { data } = await service.call('POST', `/flows/${flowId}/chat`, { body });
  await service.call('DELETE', `/flows/${flowId}/sessions/${String(data['sessionId'])}`);
  return data;
}

async function webhookOf(runId: string): Promise<unknown> {
  await untilWebhook(service, { runId }, 'delivered');
  return JSON.parse(postsOf(receiver, { runId })[0]?.body ?? '');
}

/** A run that completes. */
async function runOf(
  flowId: string,
  { steps, ...fields }: { steps: object[]; model?: string; maxBudgetUsd?: number },
): Promise<string> {
  const body = { ...fields, prompt: script([...steps, { say: 'done' }]) };
  const { data } = await service.call<RunRecord>('POST', `/flows/${flowId}/runs`, { body });
  expect(await service.untilEnded(data.runId)).toMatchObject({ exitCode: 0, result: 'done' });
  return data.runId;
}

async function modelsCalledBy(runId: string): Promise<string[]> {
  const text = 'select model from model_calls where run_id = $1 order by started_at';
  const { rows } = await service.database.pool.query<{ model: string }>(text, [runId]);
  return rows.map(({ model }) => model);
}

const refusalsOf = (runId: string): unknown[] =>
  linesOf(service.worker.log())
    .filter((line) => line['runId'] === runId && line['msg'] === 'model_call_refused')
    .map(({ reason }) => reason);
