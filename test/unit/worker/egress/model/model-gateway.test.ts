import { once } from 'node:events';
import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { modelLimits } from '../../../../../core/model/model-limits.ts';
import { callSocket, openCall } from '../../../../support/socket-client.ts';
import { serveRun } from '../egress-fixture.ts';
import { call, type Handle, serveModel, startModel } from './model-fixture.ts';

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
    deps: { modelUpstream: { apiKey: 'operator-key', baseUrl: services } },
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
    deps: { modelUpstream: { apiKey: 'operator-key', baseUrl } },
    handlers: { projectModel: () => Promise.reject(new Error('unavailable')) },
  });
  const answer = await callSocket(socketPath, call);
  expect([answer.status, calls]).toEqual([502, 0]);
});

test.each([
  ['the host has no model', { hasModel: false, mayUse: true }],
  ['the host’s model must not answer', { hasModel: true, mayUse: false }],
])('answers nothing if %s and the project has no key', async (_why, { hasModel, mayUse }) => {
  let calls = 0;
  const baseUrl = await startModel((_request, response) => {
    calls += 1;
    response.end('{}');
  });
  const own = { apiKey: 'project-key', baseUrl };
  const answers = [null, own];
  const { socketPath } = await serveRun({
    deps: { modelUpstream: hasModel ? { apiKey: 'host-key', baseUrl } : null },
    handlers: {
      projectModel: () => Promise.resolve(answers.shift() ?? null),
      mayUseHostModel: () => Promise.resolve(mayUse),
    },
  });
  const refused = await callSocket(socketPath, call);
  expect([refused.status, calls]).toEqual([403, 0]);
  expect(refused.body).toContain('no model key');
  expect((await callSocket(socketPath, call)).status).toBe(200);
});

test("adds the operator's key and removes the agent's own credentials", async () => {
  const seen: { url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];
  const baseUrl = await startModel(async (request, response) => {
    seen.push({ url: request.url, headers: request.headers, body: await text(request) });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":1}');
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
    body: call.body,
  });
  expect(answer).toMatchObject({ status: 200, body: '{"ok":1}' });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    url: '/base/v1/messages?beta=true',
    body: call.body,
  });
  expect(seen[0]?.headers).toMatchObject({
    'x-api-key': 'operator-key',
    'anthropic-version': '2023-06-01',
  });
  expect(seen[0]?.headers).not.toHaveProperty('authorization');
  expect(seen[0]?.headers).not.toHaveProperty('cookie');
});

test('answers with the headers that the agent reads, and with none about the account of the key', async () => {
  const read = {
    ...{ 'content-type': 'application/json', 'request-id': 'req_1' },
    ...{ 'retry-after': '7', 'x-should-retry': 'true' },
  };
  const account = {
    ...{ 'anthropic-organization-id': 'org_1', 'anthropic-workspace-id': 'wrkspc_1' },
    ...{ 'anthropic-ratelimit-requests-limit': '4000', 'anthropic-ratelimit-tokens-reset': 'now' },
    ...{ 'set-cookie': 'a=b', 'x-of-another-provider': 'account 7' },
  };
  const baseUrl = await startModel((_request, response) => {
    response.writeHead(429, { ...read, ...account }).end('{}');
  });
  const { socketPath } = await serveModel(baseUrl);
  const { status, headers } = await callSocket(socketPath, call);
  expect([status, headers]).toMatchObject([429, read]);
  for (const name of Object.keys(account)) expect(headers).not.toHaveProperty(name);
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

test('a run whose bodies occupy all its memory gets a retryable status until one of its calls ends', async () => {
  const baseUrl = await startModel((_request, response) => void response.end('{}'));
  const { socketPath } = await serveModel(baseUrl);
  const body = Buffer.alloc(modelLimits.bodyMaxBytes, ' ');
  const unfinished: ReturnType<typeof openRequest>[] = [];
  /** A polled call that is in progress uses memory, so an upload may be refused. It is repeated. */
  const upload = (index: number): void => {
    const request = openRequest({ socketPath, method: 'POST', path: call.path, agent: false });
    unfinished[index] = request;
    request
      .on('error', () => undefined)
      .on('response', () => {
        request.destroy();
        upload(index);
      });
    request.write(body);
  };
  upload(0);
  upload(1);
  const status = async () => (await callSocket(socketPath, call)).status;
  await expect.poll(status).toBe(529);
  unfinished[0]?.destroy();
  await expect.poll(status).toBe(200);
  unfinished[1]?.destroy();
});
