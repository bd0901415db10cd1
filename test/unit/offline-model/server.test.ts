import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OfflineModel, startOfflineModel } from '../../../offline-model/server.ts';
import {
  createMessagesClient,
  fileTools,
  request,
  script,
  system,
  words,
} from './messages-client.ts';

let model: OfflineModel;
beforeEach(async () => {
  model = await startOfflineModel();
});
afterEach(() => model.close());

const { ask, post, stream } = createMessagesClient(() => model.url);

describe('the protocol', () => {
  it('streams text and tool input in pieces that add up to the message', async () => {
    const text = 'Grüße aus der Ferne, and then some more words to cut.';
    const input = { command: 'echo "wörld"', nested: { a: [1, 2, 3] } };
    const events = await stream(script([{ thinking: 'Hm.' }, { text }, { tool: 'Bash', input }]));
    expect(events.map((event) => event.type).filter((type, i, all) => type !== all[i - 1])).toEqual(
      [
        'message_start',
        'ping',
        ...['thinking', 'text', 'tool'].flatMap(() => [
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
        ]),
        'message_delta',
        'message_stop',
      ],
    );
    const deltas = events.flatMap((event) => event.delta ?? []);
    expect(deltas.flatMap((delta) => delta.type ?? [])).toContain('thinking_delta');
    expect(deltas.map((delta) => delta.text ?? '').join('')).toBe(text);
    expect(deltas.filter((delta) => delta.type === 'text_delta').length).toBeGreaterThan(2);
    expect(JSON.parse(deltas.map((delta) => delta.partial_json ?? '').join(''))).toEqual(input);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  it('returns the same message and tokens with and without a stream', async () => {
    const prompt = 'Tell me about lighthouses';
    const whole = await ask(request(prompt));
    const events = await stream(prompt);
    expect(events.map((event) => event.delta?.text ?? '').join('')).toBe(words(whole));
    expect(events.at(-2)?.usage).toEqual(whole.usage);
    expect(whole.usage.output_tokens).toBe(Math.ceil(words(whole).length / 4));
  });

  it('counts tokens without a reply', async () => {
    const counted = await post('/v1/messages/count_tokens', request('Hello'));
    const { usage } = await ask(request('Hello'));
    expect(await counted.json()).toEqual({ input_tokens: usage.input_tokens });
  });

  it.each([
    ['no key', {}, request('hi'), 401, 'authentication_error'],
    ['an empty key', { 'x-api-key': '' }, request('hi'), 401, 'authentication_error'],
    ['broken JSON', { 'x-api-key': 'k' }, '{"model":', 400, 'invalid_request_error'],
    [
      'no messages',
      { 'x-api-key': 'k' },
      { model: 'm', messages: [] },
      400,
      'invalid_request_error',
    ],
    ['no model', { 'x-api-key': 'k' }, { messages: [] }, 400, 'invalid_request_error'],
  ])('rejects %s with an error of the API', async (_, headers, body, status, type) => {
    const response = await post('/v1/messages', body, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type } });
  });

  it('accepts a bearer token, answers GET /, and rejects other paths', async () => {
    const bearer = { authorization: 'Bearer token' };
    expect((await post('/v1/messages', request('hi'), bearer)).status).toBe(200);
    expect((await fetch(model.url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${model.url}/v1/models`, { headers: bearer })).status).toBe(200);
    expect((await post('/v1/other', {}, bearer)).status).toBe(404);
    expect((await fetch(`${model.url}/v1/messages`, { headers: bearer })).status).toBe(405);
  });

  it('records requests with key, path, tools and system prompt', async () => {
    await ask(request('hi'));
    const [recorded] = model.requests();
    expect(recorded).toMatchObject({ method: 'POST', url: '/v1/messages?beta=true' });
    expect(recorded?.headers['x-api-key']).toBe('k');
    expect(recorded?.body).toMatchObject({ system, tools: fileTools });
  });
});

describe('the process', () => {
  const main = ['offline-model/main.ts'];

  it('prints one line with its address and exits on SIGTERM', async () => {
    const child = spawn(process.execPath, [...main, '--port', '0'], { stdio: 'pipe' });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString())?.[1];
    expect((await fetch(String(url))).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('stops a reply when its client disconnects', async () => {
    const child = spawn(process.execPath, main, { stdio: 'pipe' });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const leaving = new AbortController();
    const response = await fetch(
      `${line.toString().trim().slice('listening on '.length)}/v1/messages`,
      {
        method: 'POST',
        headers: { 'x-api-key': 'k' },
        body: JSON.stringify(request(script([{ delayMs: 3_600_000 }]), { stream: true })),
        signal: leaving.signal,
      },
    );
    expect(response.status).toBe(200);
    leaving.abort();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('rejects a port that is not a number', async () => {
    const started = promisify(execFile)(process.execPath, [...main, '--port', 'x']);
    await expect(started).rejects.toThrow('--port takes a whole number');
  });
});
