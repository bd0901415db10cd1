// The gateway with a stand-in for the model API: what the ledger has of each kind of call.

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { noTokens } from '../../../../core/metering/token-counts.ts';
import { type OfflineModel, startOfflineModel } from '../../../../offline-model/server.ts';
import { readCallJournals } from '../../../../worker/metering/call-journal.ts';
import { callSocket, openCall } from '../../../support/socket-client.ts';
import { serveRun } from '../egress/egress-fixture.ts';
import { meteredRun } from './metered-run.ts';

const usage = { input_tokens: 1_000, output_tokens: 500, cache_read_input_tokens: 200 };
const tokens = { ...noTokens, input: 1_000, output: 500, cacheRead: 200 };
/** Of claude-opus-5-5, in nano-dollars. */
const cost = 1_000 * 4_000 + 500 * 20_000 + 200 * 200;

async function startModel(): Promise<OfflineModel> {
  const model = await startOfflineModel();
  onTestFinished(() => model.close());
  return model;
}

async function startGateway(options: Parameters<typeof meteredRun>[0] = {}) {
  const model = await startModel();
  const run = await meteredRun(options);
  const deps = { model: { apiKey: 'operator-key', baseUrl: model.url } };
  const { socketPath, close } = await serveRun({ deps, handlers: { meter: run.meter } });
  return { ...run, model, socketPath, close };
}

function callOf(steps: object[], fields: object = {}) {
  const content = `@model ${JSON.stringify(steps)}`;
  const body = { model: 'claude-opus-5-5', max_tokens: 1_000, ...fields };
  const messages = [{ role: 'user', content }];
  return {
    method: 'POST',
    path: '/model/v1/messages?beta=true',
    headers: { 'x-api-key': 'sandbox' },
    body: JSON.stringify({ ...body, messages }),
  };
}

const said = [{ usage }, { text: 'Hello.' }];

test.each([false, true])(
  'a whole answer is stored before its end arrives (stream: %s)',
  async (stream) => {
    const { socketPath, meter, recorded, observed, logged } = await startGateway();
    const answer = await callSocket(socketPath, callOf(said, { stream }));
    expect(answer.status).toBe(200);
    await meter.written();
    expect(recorded).toMatchObject([
      [
        {
          ...{ model: 'claude-opus-5-5', messageId: null, status: 200, tokens, cost },
          ...{ isCutOff: false, isEstimated: false, price: { input: 4_000 } },
        },
      ],
    ]);
    expect(observed).toEqual(recorded.flat());
    const lines = logged.filter(({ msg }) => msg === 'model_call');
    expect(lines).toMatchObject([
      {
        ...{ model: 'claude-opus-5-5', status: 200, input: 1_000, output: 500, cacheRead: 200 },
        ...{ costUsd: 0.01404, tookMs: expect.any(Number) as number },
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/Hello|operator-key|sandbox/);
  },
);

describe('an answer that is cut off', () => {
  test('by the model API is stored with what it had said, and an estimate of the rest', async () => {
    const { socketPath, meter, recorded } = await startGateway();
    const steps = [{ usage }, { text: 'Half of it' }, { delayMs: 300 }, { cut: true, times: 9 }];
    const answer = await openCall(socketPath, callOf(steps, { stream: true }));
    await expect(text(answer)).rejects.toThrow('aborted');
    await meter.settled();
    const [call] = recorded.flat();
    expect(call).toMatchObject({ status: 200, isCutOff: true, isEstimated: true });
    expect(call?.tokens).toMatchObject({ input: 1_000, cacheRead: 200 });
    expect(call?.tokens.output).toBeGreaterThan(25);
    expect(call?.tokens.output).toBeLessThan(1_000);
  });

  test('by the agent, while it is streamed, is stored in the same way', async () => {
    const { socketPath, meter, recorded } = await startGateway();
    const steps = [{ usage }, { text: 'Half of it' }, { delayMs: 60_000 }];
    const answer = await openCall(socketPath, callOf(steps, { stream: true }));
    await once(answer, 'data');
    answer.destroy();
    await meter.settled();
    expect(recorded.flat()).toMatchObject([
      { status: 200, isCutOff: true, isEstimated: true, tokens: { input: 1_000 } },
    ]);
  });

  test('by the agent before it begins costs its prompt, and what the model may have written', async () => {
    const { socketPath, meter, recorded, model } = await startGateway();
    const abort = new AbortController();
    const call = callOf([{ delayMs: 60_000 }]);
    const made = openCall(socketPath, { ...call, signal: abort.signal });
    await expect.poll(() => model.requests().length).toBe(1);
    abort.abort();
    await expect(made).rejects.toThrow();
    await meter.settled();
    const [entry] = recorded.flat();
    expect(entry).toMatchObject({ status: null, isCutOff: true, isEstimated: true });
    expect(entry?.tokens.input).toBe(Math.ceil(call.body.length / 4));
    expect(entry?.cost).toBeGreaterThan(0);
  });

  test('by the end of the run is stored before the meter has settled', async () => {
    const { socketPath, meter, recorded, close } = await startGateway();
    const steps = [{ usage }, { text: 'Half of it' }, { delayMs: 60_000 }];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const answer = await openCall(socketPath, callOf(steps, { stream: true }));
        await once(
          answer.on('error', () => undefined),
          'data',
        );
      }),
    );
    await close();
    await meter.settled();
    expect(recorded.flat()).toHaveLength(8);
  });
});

test('a call that the model API rejects costs nothing', async () => {
  const { socketPath, meter, recorded } = await startGateway();
  const answer = await callSocket(socketPath, callOf([{ status: 529, times: 9 }]));
  expect(answer.status).toBe(529);
  await meter.settled();
  expect(recorded.flat()).toMatchObject([
    { status: 529, tokens: noTokens, cost: 0, isCutOff: false, isEstimated: false },
  ]);
});

test('of rejected calls the ledger has 20 of each turn, and the log and the metric have all', async () => {
  const { socketPath, meter, recorded, observed, logged, root } = await startGateway();
  const reject = (times: number) =>
    Promise.all(
      Array.from({ length: times }, () =>
        callSocket(socketPath, callOf([{ status: 400, times: 99 }])),
      ),
    );
  await reject(21);
  await meter.settled();
  const lines = logged.filter(({ msg }) => msg === 'model_call');
  expect([recorded.flat().length, observed.length, lines.length]).toEqual([20, 21, 21]);
  expect(await readCallJournals(root)).toMatchObject([{ open: [], ended: [] }]);

  meter.beginTurn('next');
  await reject(1);
  await callSocket(socketPath, callOf(said));
  await meter.settled();
  expect(recorded.flat().slice(20)).toMatchObject([{ status: 400 }, { status: 200 }]);
});

test('a call that the model API never answers costs nothing', async () => {
  const { socketPath, meter, recorded, model } = await startGateway();
  await model.close();
  expect((await callSocket(socketPath, callOf(said))).status).toBe(502);
  await meter.settled();
  expect(recorded.flat()).toMatchObject([
    { status: null, tokens: noTokens, cost: 0, isCutOff: true, isEstimated: false },
  ]);
});

test('counting tokens is not metered', async () => {
  const { socketPath, meter, recorded } = await startGateway();
  const call = { ...callOf(said), path: '/model/v1/messages/count_tokens' };
  expect((await callSocket(socketPath, call)).status).toBe(200);
  await meter.settled();
  expect(recorded).toEqual([]);
});

test('a model without a price costs an unknown amount, not 0', async () => {
  const { socketPath, meter, recorded, logged } = await startGateway({ model: 'my-model' });
  await callSocket(socketPath, callOf(said, { model: 'my-model' }));
  await meter.settled();
  expect(recorded.flat()).toMatchObject([{ model: 'my-model', tokens, price: null, cost: null }]);
  expect(logged.find(({ msg }) => msg === 'model_call')).toMatchObject({ costUsd: null });
});

test.each(['claude-opus-5-5', 'my-model'])(
  'a call to %s that the offline model answers has the name and the price of the offline model',
  async (model) => {
    const options = { model, maxBudgetUsd: 1 };
    const { socketPath, meter, recorded } = await startGateway(options, {
      onlyModel: 'offline-model',
    });
    expect((await callSocket(socketPath, callOf(said, { model }))).status).toBe(200);
    await meter.settled();
    const offlineCost = 1_000 * 1_000 + 500 * 5_000 + 200 * 100;
    expect(recorded.flat()).toMatchObject([{ model: 'offline-model', tokens, cost: offlineCost }]);
  },
);

test('parallel calls are all stored, in few statements while the ledger is slow', async () => {
  const waiting: (() => void)[] = [];
  const { socketPath, meter, recorded } = await startGateway({
    onRecord: () => new Promise((resolve) => waiting.push(resolve)),
  });
  const calls = Array.from({ length: 20 }, () => callSocket(socketPath, callOf(said)));
  await Promise.all(calls);
  let isWritten = false;
  const written = meter.written().then(() => (isWritten = true));
  await expect.poll(() => waiting.length).toBe(1);
  expect(isWritten).toBe(false);
  waiting.shift()?.();
  await expect.poll(() => waiting.length).toBe(1);
  waiting.shift()?.();
  await written;
  expect(recorded).toHaveLength(2);
  expect(new Set(recorded.flat().map(({ callId }) => callId)).size).toBe(20);
});

test('a prompt that does not fit into the budget by its length is counted by the model API', async () => {
  const { socketPath, meter, recorded, model } = await startGateway({ maxBudgetUsd: 0.1 });
  const long = { system: 'x'.repeat(40_000) };
  expect((await callSocket(socketPath, callOf(said, long))).status).toBe(200);
  const urls = () => model.requests().map(({ url }) => url);
  expect(urls()).toEqual(['/v1/messages/count_tokens?beta=true', '/v1/messages?beta=true']);
  expect(model.requests()[0]?.body).not.toHaveProperty('max_tokens');
  await meter.settled();
  expect(recorded.flat()).toHaveLength(1);

  const tooLong = { system: 'x'.repeat(80_000) };
  const answer = await callSocket(socketPath, callOf(said, tooLong));
  expect([answer.status, urls().length]).toEqual([402, 3]);
  expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'billing_error' } });
  expect(await meter.exceeded).toBe('budget_exceeded');
  expect(recorded.flat()).toHaveLength(1);
});

test('text that looks like an image does not exceed the budget, in calls at once either', async () => {
  const { socketPath, meter, recorded } = await startGateway({ maxBudgetUsd: 0.1 });
  const input = { type: 'image', source: { type: 'base64', data: 'x '.repeat(40_000) } };
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'any', input }];
  const messages = [user('Hi.'), { role: 'assistant', content }];
  const forged = callOf([], { messages, max_tokens: 100 });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => callSocket(socketPath, forged)),
  );
  await meter.settled();
  const spent = recorded.flat().reduce((sum, call) => sum + (call.cost ?? 0), 0);
  expect(spent).toBeLessThanOrEqual(0.1 * 1e9);
  expect(answers.map(({ status }) => status)).toContain(402);
});

test('a call belongs to the turn in which it began', async () => {
  const { socketPath, meter, recorded } = await startGateway();
  meter.beginTurn('first');
  const answer = await openCall(socketPath, callOf([{ delayMs: 300 }, ...said], { stream: true }));
  meter.beginTurn('second');
  await Promise.all([text(answer), callSocket(socketPath, callOf(said))]);
  await meter.settled();
  expect(recorded.flat().map(({ messageId }) => messageId)).toEqual(['second', 'first']);
});
