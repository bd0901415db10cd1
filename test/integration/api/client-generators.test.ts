// The API description as third-party tools read it: a linter, a client generator with its output,
// and a reader of Postman collections.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { openApiFixture } from '../../support/api-fixture.ts';

const run = promisify(execFile);
const description = join(repository, 'api/openapi.json');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'description-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Like a manual start, but without telemetry. */
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  REDOCLY_TELEMETRY: 'off',
};

async function compile(file: string): Promise<void> {
  const strict = ['--strict', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable'];
  await tool('tsc', '--ignoreConfig', '--noEmit', ...strict, '--module', 'esnext', file);
}

/** Writes a program beside the generated client. */
function programIn(place: string, text: string): string {
  const file = join(place, 'reader.ts');
  writeFileSync(file, text);
  return file;
}

/** A program that uses the generated types of events and webhooks. */
const typedReader = `
import type { RunFinished, SessionEnded, StreamEvent } from './client';

export function textOf(event: StreamEvent): string {
  switch (event.event) {
    case 'chat_output':
      return event.data.text;
    case 'turn_end':
      return event.id + event.data.exitCode.toFixed();
    case 'replay_truncated':
      return event.data.firstAvailableSeq.toFixed();
    case 'filetree':
      return event.data.flatMap(({ children = [] }) => children).map(({ path }) => path).join();
    case 'assistant':
      return event.data.message.content.map(({ type, text = '' }) => type + text).join();
    case 'result':
      return event.data.total_cost_usd.toFixed(2);
    default:
      return '';
  }
}

export const idsOf = ({ runId }: RunFinished, { sessionId }: SessionEnded): string =>
  runId + sessionId;
`;

/** A tool's standard output and standard error. */
async function tool(name: string, ...args: string[]): Promise<string> {
  const program = join(repository, 'node_modules/.bin', name);
  const { stdout, stderr } = await run(program, args, { cwd: folder, env });
  return `${stdout}${stderr}`;
}

test('passes an OpenAPI linter without remarks', async () => {
  const output = await tool('redocly', 'lint', '--format=json', description);
  const { totals } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1));
  expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
});

test('generates a client that compiles and starts a run, without warnings', async () => {
  const client = join(folder, 'client.ts');
  const output = await tool(
    'swagger-typescript-api',
    ...['generate', '--path', description, '--output', folder, '--name', 'client.ts'],
  );
  expect(output).toContain('client.ts');
  expect(output).not.toMatch(/warn|error|⚠|✖/i);
  // The generator disables type checks in its output; this test needs them.
  writeFileSync(client, readFileSync(client, 'utf8').replace(/^\/\/ @ts-.*$/gm, ''));
  await compile(client);
  await compile(programIn(folder, typedReader));
  const misspelt = typedReader.replace('firstAvailableSeq', 'firstSeq');
  await expect(compile(programIn(folder, misspelt))).rejects.toThrow();

  const fixture = await openApiFixture();
  try {
    const { url } = await fixture.start();
    const { flowId, key } = await fixture.tenant();
    const { Api } = await import(client);
    const headers = { authorization: `Bearer ${key}` };
    const { api } = new Api({ baseUrl: url, baseApiParams: { headers, format: 'json' } });
    const started = await api.triggerRun(flowId, {}, { prompt: 'Go' });
    const found = await api.readRun(started.data.data.runId);
    expect([started.status, found.data.data.prompt]).toEqual([201, 'Go']);
    await expect(api.readRun('none')).rejects.toMatchObject({
      error: { error: { code: 'NOT_FOUND' } },
    });
  } finally {
    await fixture.close();
  }
}, 180_000);

test('the Postman collection has a request for each operation that takes a key', () => {
  const { item, variable } = JSON.parse(
    readFileSync(join(repository, 'api/postman.json'), 'utf8'),
  ) as Collection;
  const { paths } = JSON.parse(readFileSync(description, 'utf8'));
  const operations = Object.entries(paths as Record<string, object>)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
  const requests = item.flatMap((tag) => tag.item).map(({ request }) => request);
  for (const { body } of requests) JSON.parse(body?.raw ?? '{}');
  expect(requests.map(addressOf).sort()).toEqual(operations.sort());
  const names = variable.map(({ key }) => key);
  const used = requests.flatMap(({ url }) => url.variable.map(({ value }) => value.slice(2, -2)));
  expect(names).toEqual(expect.arrayContaining(['baseUrl', 'bearerToken', ...used]));
});

interface PostmanRequest {
  method: string;
  url: { host: string[]; path: string[]; variable: { key: string; value: string }[] };
  body?: { raw?: string };
}

interface Collection {
  item: { item: { request: PostmanRequest }[] }[];
  variable: { key: string; value: string }[];
}

const addressOf = ({ method, url }: PostmanRequest): string =>
  `${method} /${url.path.join('/').replaceAll(/:(\w+)/g, '{$1}')}`;
