// The real agent uses flows of its service as tools, over https like any other MCP server.

import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAuthority, type TestAuthority } from '../support/authority.ts';
import { type DerivedImage, deriveImage } from '../support/derived-image.ts';
import { modelScript } from '../support/prompts.ts';
import { asking, colour } from '../support/questions.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';
import { toolResultsIn } from '../support/tool-results.ts';

/** This machine, by a name that an agent does not resolve to its sandbox. */
const outside = '0.0.0.0';

let image: DerivedImage;
let service: Service;
let front: Server;

beforeAll(async () => {
  const authority = makeAuthority(outside);
  front = await startTlsFront(authority);
  image = await deriveImage('update-ca-certificates', {
    '/usr/local/share/ca-certificates/test.crt': authority.ca,
  });
  service = await startService({
    agent: 'real',
    env: { EGRESS_ALLOW_PRIVATE: `${outside}:${portOf(front)}` },
    flow: { image: image.name, name: 'worker', description: 'Does a task.' },
  });
}, 300_000);
afterAll(async () => {
  await service?.stop();
  front?.close();
  await image?.remove();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Ends TLS before the API. */
async function startTlsFront({ cert, key }: TestAuthority): Promise<Server> {
  const server = createServer({ cert, key }, (client) => {
    const api = connect(Number(new URL(service.url).port), '127.0.0.1');
    for (const socket of [client, api]) socket.on('error', () => socket.destroy());
    client.pipe(api).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

interface ToolCall {
  tool: string;
  input: object;
}

/** A run whose agent makes the calls. Returns what the agent got, in order. */
async function useTools(...calls: ToolCall[]): Promise<string[]> {
  const { key } = service;
  const url = `https://${outside}:${portOf(front)}/mcp`;
  const headers = { authorization: `Bearer ${key}` };
  const { runId } = await service.trigger({
    prompt: modelScript([...calls, { text: 'Done.' }]),
    mcpServers: { flowrun: { type: 'http', url, headers } },
  });
  const events = await collect(service.stream(runId));
  expect(await service.readRun(runId)).toMatchObject({ result: 'Done.' });
  return toolResultsIn(events);
}

const called = (name: string, input: object): ToolCall => ({
  tool: `mcp__flowrun__${name}`,
  input,
});

test('the agent starts a flow, answers its question and reads its file', async () => {
  const command = 'echo painted > wall.txt';
  const writing = modelScript([{ tool: 'Bash', input: { command } }, { text: 'Painted.' }]);
  const [written, asked] = await useTools(
    called('flow_worker', { prompt: writing }),
    called('run_flow', { flow: 'worker', prompt: asking([colour]) }),
  );
  const first = JSON.parse(written ?? '');
  expect(first).toMatchObject({ hasEnded: true, exitCode: 0, result: 'Painted.' });
  const second = JSON.parse(asked ?? '');
  expect(second).toMatchObject({ hasEnded: false, questions: [{ questions: [colour] }] });

  const { runId } = second;
  const [{ interactionId }] = second.questions;
  const [content, answered, status] = await useTools(
    called('read_file', { runId: first.runId, path: 'wall.txt' }),
    called('answer_question', { runId, interactionId, answers: { 'Which colour?': 'Blue' } }),
    called('run_status', { runId }),
  );
  expect(content).toBe('painted\n');
  expect(JSON.parse(answered ?? '')).toEqual({ runId, answered: true });
  expect(JSON.parse(status ?? '')).toMatchObject({ hasEnded: true, result: 'Done.' });
}, 180_000);
