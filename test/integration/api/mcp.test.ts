import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CallOptions, caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();

const headers = { accept: 'application/json, text/event-stream' };
const unknownRun = '00000000-0000-4000-8000-000000000000';

type Call = (path: string, options?: CallOptions) => ReturnType<typeof call>;

const send = (message: unknown, by: Call = call, path = '/api/v1/mcp') =>
  by(path, { body: message, headers });

const request = (method: string, params: unknown = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});

/** The fields that a client sends with each message since the 2026 version of the protocol. */
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface ToolAnswer {
  text: string;
  isError: boolean;
}

async function useTool(name: string, args: unknown = {}, by: Call = call): Promise<ToolAnswer> {
  const answer = await send(request('tools/call', { name, arguments: args }), by);
  expect(answer.status, answer.text).toBe(200);
  const { result, error } = answer.json;
  if (error !== undefined) return { text: error.message, isError: true };
  return { text: result.content[0].text, isError: result.isError === true };
}

async function toolNames(by: Call = call): Promise<string[]> {
  const answer = await send(request('tools/list'), by);
  return answer.json.result.tools.map(({ name }: { name: string }) => name);
}

const genericTools = [
  'answer_question',
  'chat',
  'list_files',
  'list_flows',
  'read_file',
  'run_flow',
  'run_status',
  'run_transcript',
  'stop_run',
];

describe('the protocol', () => {
  test('begins with the version that the client offers, on both paths', async () => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    for (const path of ['/api/v1/mcp', '/mcp']) {
      const answer = await send(request('initialize', params), call, path);
      expect(answer.status).toBe(200);
      const { result } = answer.json;
      expect(result.protocolVersion).toBe('2025-06-18');
      expect(result.serverInfo.name).toBe('flowrun');
    }
  });

  test('accepts a notification without an answer', async () => {
    const answer = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  test('needs a key, and has no other method', async () => {
    const unknown = await send(request('tools/list'), caller(api, null));
    expect(unknown.status).toBe(401);
    for (const method of ['GET', 'DELETE']) {
      const answer = await call('/api/v1/mcp', { method, headers });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('rejects a body that is not a message of the protocol', async () => {
    const rejected = [null, 7, 'text', {}, { jsonrpc: '1.0', id: 1, method: 'ping' }, [], [7]];
    for (const message of rejected) {
      const answer = await send(message === 'text' ? '"text"' : message);
      expect([answer.status, message], answer.text).toEqual([400, message]);
      expect(answer.json.error.code).toBe('VALIDATION_ERROR');
    }
    const unknown = await send(request('tools/fly'));
    expect(unknown.json.error.code).toBe(-32601);
    expect((await send('{')).status).toBe(400);
  });

  test('answers every message', async () => {
    const id = fc.option(fc.oneof(fc.string(), fc.integer()), { nil: undefined });
    const names = fc.constantFrom(...genericTools, 'flow_a_flow', 'unknown');
    const method = fc.constantFrom(
      'tools/list',
      'tools/call',
      'initialize',
      'ping',
      'resources/list',
    );
    const toolCall = fc.record({
      name: names,
      arguments: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    });
    const params = fc.oneof(toolCall, fc.dictionary(fc.string(), fc.jsonValue()));
    const message = fc.record({
      jsonrpc: fc.constant('2.0'),
      id,
      method: fc.oneof(method, fc.string({ minLength: 1 })),
      params,
    });
    const anything = fc.oneof({ weight: 3, arbitrary: message }, fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        const answer = await send(JSON.stringify(body));
        expect([200, 202, 400], answer.text).toContain(answer.status);
      }),
      { numRuns: 200 },
    );
  });

  test('offers no stream of change notifications', async () => {
    const params = { ['_meta']: envelope, notifications: { toolsListChanged: true } };
    const listen = request('subscriptions/listen', params);
    const modern = { ...headers, 'mcp-protocol-version': '2026-07-28' };
    const answer = await call('/api/v1/mcp', {
      body: listen,
      headers: { ...modern, 'mcp-method': 'subscriptions/listen' },
    });
    expect(answer.json.error.message).toContain('limit');
  });
});

describe('the tools', () => {
  test('are the generic ones, and each flow that has a description', async () => {
    const other = await fixture.tenant();
    const byOther = caller(api, other.key);
    expect((await toolNames(byOther)).sort()).toEqual(genericTools);
    const flow = { projectId: other.projectId, description: 'Writes a text.' };
    await fixture.stores.flows.create({ ...flow, name: 'Ünique Writer' });
    await fixture.stores.flows.create({ ...flow, name: 'same name' });
    await fixture.stores.flows.create({ ...flow, name: 'Same-Name' });
    const ofFlows = (await toolNames(byOther)).filter((name) => name.startsWith('flow_'));
    expect(ofFlows[0]).toBe('flow_u_nique_writer');
    for (const name of ofFlows.slice(1)) expect(name).toMatch(/^flow_same_name_[0-9a-f]{8}$/);
  });

  test('start a run once per idempotency key, show it and stop it', async () => {
    const { flowId } = tenant;
    const args = { flow: flowId, prompt: 'Hello', idempotencyKey: 'mcp-1', waitSeconds: 0 };
    const started = JSON.parse((await useTool('run_flow', args)).text);
    expect(started).toMatchObject({ hasEnded: false, flowId });
    const { runId } = started;
    expect(JSON.parse((await useTool('run_flow', args)).text).runId).toBe(runId);
    const byHttp = await call(`/api/v1/runs/${runId}`);
    expect(byHttp.json.data.prompt).toBe('Hello');
    const status = await useTool('run_status', { runId, waitSeconds: 0 });
    expect(JSON.parse(status.text)).toMatchObject({ runId, hasEnded: false });
    expect((await useTool('stop_run', { runId })).isError).toBe(false);
    expect((await call(`/api/v1/runs/${runId}`)).json.data.stopping).toBe(true);
  });

  test('return the errors of the API as text', async () => {
    const unknown = await useTool('run_status', { runId: unknownRun });
    expect(unknown).toEqual({ isError: true, text: expect.stringMatching(/^NOT_FOUND: /) });
    const nameless = await useTool('run_flow', { flow: 'no such flow' });
    expect(nameless).toEqual({ isError: true, text: expect.stringContaining('list_flows') });
    const blank = await useTool('run_flow', { flow: tenant.flowId, prompt: ' ' });
    expect(blank).toEqual({ isError: true, text: expect.stringMatching(/^VALIDATION_ERROR: /) });
    const invalid = await useTool('run_status', { runId: 'x' });
    expect(invalid.isError).toBe(true);
  });

  test('read only the files of a run', async () => {
    const started = await useTool('run_flow', { flow: tenant.flowId, prompt: 'x', waitSeconds: 0 });
    const { runId } = JSON.parse(started.text);
    for (const path of ['../stream', 'a/../../logs', './x', '..']) {
      const answer = await useTool('read_file', { runId, path });
      expect(answer).toEqual({ isError: true, text: expect.stringContaining('must not contain') });
    }
  });

  test('have the permissions of their key', async () => {
    const { key } = await fixture.stores.keys.create({
      projectId: tenant.projectId,
      name: 'reader',
      scopes: ['read'],
      createdBy: 'test',
    });
    const reader = caller(api, key);
    const refused = await useTool('run_flow', { flow: tenant.flowId, prompt: 'x' }, reader);
    expect(refused).toEqual({ isError: true, text: expect.stringMatching(/^UNAUTHORIZED: /) });
    expect((await useTool('list_flows', {}, reader)).isError).toBe(false);
  });
});
