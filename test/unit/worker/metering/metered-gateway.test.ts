// The ledger entries of each kind of call.

import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { noTokens } from '../../../../core/metering/token-counts.ts';
import { readCallJournals } from '../../../../worker/metering/call-journal.ts';
import { callSocket, openCall } from '../../../support/socket-client.ts';
import { callOf, said, startGateway, tokens, user } from './metered-gateway.ts';

/** The cost of the tokens at the prices of claude-opus-5-5. */
const costNanos = 1_000 * 4_000 + 500 * 20_000 + 200 * 200;

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
          ...{ model: 'claude-opus-5-5', messageId: null, status: 200, tokens, costNanos },
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

test('a call that the model API rejects costs nothing', async () => {
  const { socketPath, meter, recorded } = await startGateway();
  const answer = await callSocket(socketPath, callOf([{ status: 529, times: 9 }]));
  expect(answer.status).toBe(529);
  await meter.settled();
  expect(recorded.flat()).toMatchObject([
    { status: 529, tokens: noTokens, costNanos: 0, isCutOff: false, isEstimated: false },
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
    { status: null, tokens: noTokens, costNanos: 0, isCutOff: true, isEstimated: false },
  ]);
});

test('counting tokens is not metered', async () => {
  const { socketPath, meter, recorded } = await startGateway();
  const call = { ...callOf(said), path: '/model/v1/messages/count_tokens' };
  expect((await callSocket(socketPath, call)).status).toBe(200);
  await meter.settled();
  expect(recorded).toEqual([]);
});

test('a refused call has a metric, each reason a log line, and the ledger has nothing', async () => {
  const { socketPath, refused, logged, recorded, model } = await startGateway({ maxTurns: 1 });
  const call = callOf(said);
  const forbidden = callOf(said, { mcp_servers: [] });
  const refusals: [reason: string, call: object][] = [
    ['invalid_request_error', forbidden],
    ['invalid_request_error', forbidden],
    ['not_found_error', { ...call, path: '/model/v1/messages/batches' }],
    ['invalid_request_error', { ...call, method: 'PUT' }],
    ['permission_error', callOf(said, { model: 'claude-sonnet-5-5' })],
  ];
  for (const [, each] of refusals) await callSocket(socketPath, { ...call, ...each });
  expect(refused).toEqual(refusals.map(([reason]) => reason));
  expect(logged).toMatchObject([
    { msg: 'model_call_refused', status: 400, field: 'mcp_servers' },
    { msg: 'model_call_refused', status: 404, reason: expect.any(String) },
    { msg: 'model_call_refused', status: 405, reason: expect.any(String) },
    { msg: 'model_call_refused', status: 403, reason: expect.stringContaining('sonnet') },
  ]);
  expect([recorded, model.requests()]).toEqual([[], []]);
});

test('counting tokens is refused for a model that the run may not call', async () => {
  const { socketPath, logged } = await startGateway();
  const call = callOf(said, { model: 'claude-sonnet-5-5' });
  const counting = { ...call, path: '/model/v1/messages/count_tokens' };
  expect((await callSocket(socketPath, counting)).status).toBe(403);
  expect(logged.map(({ msg }) => msg)).toContain('model_call_refused');
});

test('a model without a price costs an unknown amount, not 0', async () => {
  const { socketPath, meter, recorded, logged } = await startGateway({ model: 'my-model' });
  await callSocket(socketPath, callOf(said, { model: 'my-model' }));
  await meter.settled();
  expect(recorded.flat()).toMatchObject([
    { model: 'my-model', tokens, price: null, costNanos: null },
  ]);
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
    expect(recorded.flat()).toMatchObject([
      { model: 'offline-model', tokens, costNanos: offlineCost },
    ]);
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
  const spent = recorded.flat().reduce((sum, call) => sum + (call.costNanos ?? 0), 0);
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
