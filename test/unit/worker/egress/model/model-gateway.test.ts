import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { modelLimits } from '../../../../../core/model/model-limits.ts';
import { callSocket, openCall } from '../../../../support/socket-client.ts';
import { serveRun } from '../egress-fixture.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * A model on loopback. It is the operator's setting, so plain HTTP and private addresses are
 * allowed.
 */
async function startModel(handle: Handle): Promise<string> {
  const server = createServer((request, response) => void handle(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

const question = JSON.stringify({
  model: 'any',
  max_tokens: 1,
  messages: [{ role: 'user', content: 'päivää' }],
});

const call = { method: 'POST', path: '/model/v1/messages', body: question };

const serveModel = (baseUrl: string) =>
  serveRun({ deps: { model: { apiKey: 'operator-key', baseUrl } } });

test('uses the project’s own model and key from the next call on, and the service’s without one', async () => {
  const seen: string[] = [];
  const answerAs =
    (name: string): Handle =>
    (request, response) => {
      seen.push(`${name} ${String(request.headers['x-api-key'])}`);
      response.writeHead(200).end('{}');
    };
  const services = await startModel(answerAs('service'));
  const own = { apiKey: 'project-key', baseUrl: await startModel(answerAs('project')) };
  const answers = [null, own, { ...own, apiKey: 'rotated' }, null];
  const { socketPath } = await serveRun({
    deps: { model: { apiKey: 'operator-key', baseUrl: services } },
    handlers: { projectModel: () => Promise.resolve(answers.shift() ?? null) },
  });
  for (let count = 0; count < 4; count += 1) await callSocket(socketPath, call);
  expect(seen).toEqual([
    'service operator-key',
    'project project-key',
    'project rotated',
    'service operator-key',
  ]);
});

test('sends no key while the owner of the key is unknown', async () => {
  let calls = 0;
  const baseUrl = await startModel((_request, response) => {
    calls += 1;
    response.end('{}');
  });
  const { socketPath } = await serveRun({
    deps: { model: { apiKey: 'operator-key', baseUrl } },
    handlers: { projectModel: () => Promise.reject(new Error('unavailable')) },
  });
  const answer = await callSocket(socketPath, call);
  expect([answer.status, calls]).toEqual([502, 0]);
});

test("adds the operator's key and removes the agent's own credentials", async () => {
  const seen: { url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];
  const baseUrl = await startModel(async (request, response) => {
    seen.push({ url: request.url, headers: request.headers, body: await text(request) });
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-seen': 'yes' })
      .end('{"ok":1}');
  });
  const { socketPath } = await serveModel(`${baseUrl}/base/`);
  const answer = await callSocket(socketPath, {
    method: 'POST',
    path: '/model/v1/messages?beta=true',
    headers: {
      'x-api-key': 'sandbox',
      authorization: 'Bearer sandbox',
      cookie: 'a=b',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: question,
  });
  expect(answer).toMatchObject({ status: 200, body: '{"ok":1}' });
  expect(answer.headers['x-seen']).toBe('yes');
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    url: '/base/v1/messages?beta=true',
    body: question,
  });
  expect(seen[0]?.headers).toMatchObject({
    'x-api-key': 'operator-key',
    'anthropic-version': '2023-06-01',
  });
  expect(seen[0]?.headers).not.toHaveProperty('authorization');
  expect(seen[0]?.headers).not.toHaveProperty('cookie');
});

test('passes on each chunk of a response as it arrives', async () => {
  const pieces: ServerResponse[] = [];
  const baseUrl = await startModel((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: one\n\n');
    pieces.push(response);
  });
  const { socketPath } = await serveModel(baseUrl);
  const answer = await openCall(socketPath, call);
  const [first] = await once(answer, 'data');
  expect(String(first)).toBe('event: one\n\n');
  pieces[0]?.end('event: two\n\n');
  const [second] = await once(answer, 'data');
  expect(String(second)).toBe('event: two\n\n');
});

test.each([
  ['GET', '/model/v1/messages', 405],
  ['POST', '/model/v1/messages/batches', 404],
  ['POST', '/model/v1/files', 404],
  ['POST', '/model/v1/messages/../complete', 404],
  ['POST', '/model//v1/messages', 404],
  ['POST', '/model/v1/messages%2f', 404],
  ['POST', '/v1/messages', 404],
])('%s %s is not forwarded', async (method, path, status) => {
  let calls = 0;
  const baseUrl = await startModel((_request, response) => {
    calls += 1;
    response.end();
  });
  const { socketPath } = await serveModel(baseUrl);
  expect((await callSocket(socketPath, { method, path })).status).toBe(status);
  expect(calls).toBe(0);
});

test('an unavailable model gets an error in the API’s format, with a retryable status', async () => {
  const { socketPath } = await serveModel('http://127.0.0.1:1');
  const answer = await callSocket(socketPath, call);
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.body)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
});

test('a broken response is broken for the agent as well', async () => {
  const baseUrl = await startModel((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: one\n\n', () => response.destroy());
  });
  const { socketPath } = await serveModel(baseUrl);
  const answer = await openCall(socketPath, call);
  await expect(text(answer)).rejects.toThrow('aborted');
});

test('an agent that disconnects ends its call to the model', async () => {
  const baseUrl = await startModel((_request, response) => response.flushHeaders());
  const { socketPath } = await serveModel(baseUrl);
  const answers = await Promise.all(Array.from({ length: 32 }, () => openCall(socketPath, call)));
  expect((await callSocket(socketPath, call)).status).toBe(529);
  for (const answer of answers) answer.destroy();
  await expect
    .poll(async () => {
      const answer = await openCall(socketPath, call);
      answer.destroy();
      return answer.statusCode;
    })
    .toBe(200);
});

test('a run at its limit of concurrent calls does not block another run', async () => {
  const baseUrl = await startModel((_request, response) => response.flushHeaders());
  const busy = await serveModel(baseUrl);
  const other = await serveRun({ sameHostAs: busy });
  const openBusy = () => openCall(busy.socketPath, call);
  const answers = await Promise.all(Array.from({ length: 32 }, openBusy));
  expect((await callSocket(busy.socketPath, call)).status).toBe(529);
  const answer = await openCall(other.socketPath, call);
  expect(answer.statusCode).toBe(200);
  for (const open of [...answers, answer]) open.destroy();
});

test('asks the model API for an answer that is not compressed', async () => {
  const seen: unknown[] = [];
  const baseUrl = await startModel((request, response) => {
    seen.push(request.headers['accept-encoding']);
    response.end('{}');
  });
  const { socketPath } = await serveModel(baseUrl);
  const headers = { 'accept-encoding': 'gzip, br' };
  await callSocket(socketPath, { ...call, headers });
  expect(seen).toEqual(['identity']);
});

test('forwards what was parsed, not the text: a field that is named twice arrives once', async () => {
  const seen: string[] = [];
  const baseUrl = await startModel(async (request, response) => {
    seen.push(await text(request));
    response.end('{}');
  });
  const { socketPath } = await serveModel(baseUrl);
  const body = '{"model":"first", "max_tokens":1,"messages":[],"model":"last"}';
  await callSocket(socketPath, { ...call, body });
  expect(seen).toEqual(['{"model":"last","max_tokens":1,"messages":[]}']);
});

const nested = (depth: number): string =>
  `{"model":"m","messages":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
const sized = (bytes: number): string => {
  const empty = '{"model":"m","system":""}';
  return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
};
const { bodyMaxBytes, depthMax, valuesMax } = modelLimits;
const withValues = (count: number): string =>
  `{"model":"m","messages":[${'0,'.repeat(count - 3)}0]}`;

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
  let calls = 0;
  const baseUrl = await startModel((request, response) => {
    calls += 1;
    request.resume().on('end', () => response.end('{}'));
  });
  const { socketPath } = await serveModel(baseUrl);
  const answer = await callSocket(socketPath, { ...call, body });
  expect([answer.status, calls]).toEqual([status, status === 200 ? 1 : 0]);
  if (status === 200) return;
  const type = status === 413 ? 'request_too_large' : 'invalid_request_error';
  expect(JSON.parse(answer.body)).toMatchObject({ type: 'error', error: { type } });
});
