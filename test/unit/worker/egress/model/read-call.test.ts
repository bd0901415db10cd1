import { expect, test } from 'vitest';
import { modelLimits } from '../../../../../core/model/model-limits.ts';
import { agentRequests } from '../../../../support/agent-requests.ts';
import { callSocket } from '../../../../support/socket-client.ts';
import { call, recordCalls } from './model-fixture.ts';

const nested = (depth: number): string =>
  `{"model":"m","metadata":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
const sized = (bytes: number): string => {
  const empty = '{"model":"m","system":""}';
  return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
};
const { bodyMaxBytes, depthMax, valuesMax } = modelLimits;
const withValues = (count: number): string =>
  `{"model":"m","metadata":[${'0,'.repeat(count - 3)}0]}`;

test.each([
  ['as long as allowed', 200, sized(bodyMaxBytes)],
  ['one byte longer', 413, sized(bodyMaxBytes + 1)],
  ['nested as deep as allowed', 200, nested(depthMax)],
  ['nested one level deeper', 400, nested(depthMax + 1)],
  ['with as many values as allowed', 200, withValues(valuesMax)],
  ['with one value more', 400, withValues(valuesMax + 1)],
  ['of brackets only', 400, '['.repeat(bodyMaxBytes)],
  ['that is cut off', 400, '{"model":"m"'],
  ['that is empty', 400, ''],
  ['that is not an object', 400, '[]'],
  ['in another encoding', 400, Buffer.from('{"model":"\xff"}', 'latin1')],
  ['without a model', 400, '{"max_tokens":1}'],
])('a body %s is answered with %i', async (_which, status, body) => {
  const { socketPath, calls } = await recordCalls('none');
  const answer = await callSocket(socketPath, { ...call, body });
  expect([answer.status, calls.length]).toEqual([status, status === 200 ? 1 : 0]);
  if (status === 200) return;
  const type = status === 413 ? 'request_too_large' : 'invalid_request_error';
  expect(JSON.parse(answer.body)).toMatchObject({ type: 'error', error: { type } });
});

test('forwards what was parsed, not the text: a field that is named twice arrives once', async () => {
  const { socketPath, calls } = await recordCalls('none');
  const body = '{"model":"first", "max_tokens":1,"messages":[],"model":"last"}';
  await callSocket(socketPath, { ...call, body });
  expect(calls.map((each) => each.body)).toEqual(['{"model":"last","max_tokens":1,"messages":[]}']);
});

test('names the field that the policy forbids, and forwards it under the policy open', async () => {
  const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [], mcp_servers: [] });
  for (const policy of ['none', 'limited'] as const) {
    const { socketPath, calls } = await recordCalls(policy);
    const answer = await callSocket(socketPath, { ...call, body });
    expect([answer.status, calls.length]).toEqual([400, 0]);
    expect(JSON.parse(answer.body)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringMatching(/^mcp_servers: /) },
    });
  }
  const { socketPath, calls } = await recordCalls('open');
  expect((await callSocket(socketPath, { ...call, body })).status).toBe(200);
  expect(calls.map((each) => each.body)).toEqual([body]);
});

test('refuses every query string except that of the agent', async () => {
  const { socketPath, calls } = await recordCalls('none');
  const answers = await Promise.all(
    ['?beta=true', '?beta=true&x=1', '?', '?beta=false'].map((query) =>
      callSocket(socketPath, { ...call, path: call.path + query }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 400]);
  expect(calls.map(({ url }) => url)).toEqual(['/v1/messages?beta=true']);
});

test('removes unknown beta flags, unknown headers, and compression of the answer', async () => {
  const { socketPath, calls } = await recordCalls('none');
  const headers = {
    'anthropic-beta': 'mcp-client-2025-04-04, effort-2025-11-24,unheard-of-2027-01-01',
    'accept-encoding': 'gzip, br',
    'x-stainless-lang': 'js',
    'x-unheard-of': 'yes',
    'anthropic-workspace-id': 'another',
  };
  await callSocket(socketPath, { ...call, headers });
  await callSocket(socketPath, { ...call, headers: { 'anthropic-beta': 'unheard-of-2027-01-01' } });
  expect(calls[0]?.headers).toMatchObject({
    'anthropic-beta': 'effort-2025-11-24',
    'accept-encoding': 'identity',
    'x-stainless-lang': 'js',
  });
  expect(calls[0]?.headers).not.toHaveProperty('x-unheard-of');
  expect(calls[0]?.headers).not.toHaveProperty('anthropic-workspace-id');
  expect(calls[1]?.headers).not.toHaveProperty('anthropic-beta');
});

test('forwards every recorded request of the agent unchanged, except its web search', async () => {
  const { socketPath, calls } = await recordCalls('limited');
  for (const { path, betas, body } of agentRequests) {
    const sent = JSON.stringify(body);
    const headers = { 'anthropic-beta': betas };
    const answer = await callSocket(socketPath, {
      ...{ method: 'POST', path: `/model${path}` },
      ...{ headers, body: sent },
    });
    const isSearch = sent.includes('web_search_20250305');
    expect([answer.status, answer.body.slice(0, 200)]).toEqual(
      isSearch ? [400, expect.stringContaining('web_search_20250305')] : [200, '{}'],
    );
    if (isSearch) continue;
    expect(calls.at(-1)).toMatchObject({ url: path, body: sent });
    expect(calls.at(-1)?.headers['anthropic-beta']).toBe(betas);
  }
});
