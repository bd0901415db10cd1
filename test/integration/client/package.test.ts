// The package as its users get it: from the service, without a registry.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildClientPackage } from '../../../deploy/packages/client-package.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { installedNodes } from '../../support/installed-nodes.ts';
import { useTenant } from '../api/use-api.ts';

const run = promisify(execFile);
const { api, tenant } = useTenant();

/** Nothing listens on the port of `discard`. */
const closedRegistry = 'http://127.0.0.1:9/';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'client-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier'];
  await run('npm', ['install', `${api.url}/client.tgz`, '--registry', closedRegistry, ...quiet], {
    cwd: folder,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const installed = (name: string): string =>
  readFileSync(join(folder, 'node_modules/@flowrun/client', name), 'utf8');

test('is built from the current sources', async () => {
  for (const [name, text] of Object.entries(await buildClientPackage())) {
    expect(installed(name) === text, `${name} is out of date`).toBe(true);
  }
});

test('is small, and has no dependency', () => {
  expect(installed('index.js').length).toBeLessThan(64 * 1_024);
  expect(installed('index.js')).not.toMatch(/^import |\brequire\(/m);
  expect(JSON.parse(installed('package.json'))).not.toHaveProperty('dependencies');
});

test('has a fixed address, and one for each build that may be cached forever', async () => {
  const current = await fetch(`${api.url}/client.tgz`);
  expect(current.headers.get('cache-control')).toBe('no-cache');
  const bytes = Buffer.from(await current.arrayBuffer());
  const path = current.headers.get('content-location') ?? '';
  expect(path).toMatch(/^\/client-\d+\.\d+\.\d+-[0-9a-f]{16}\.tgz$/);
  const build = await fetch(`${api.url}${path}`);
  expect(build.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(build.headers.get('content-type')).toBe('application/gzip');
  expect(Buffer.from(await build.arrayBuffer())).toEqual(bytes);
  const known = { 'if-none-match': build.headers.get('etag') ?? '' };
  expect((await fetch(`${api.url}/client.tgz`, { headers: known })).status).toBe(304);
  const other = path.replace(/[0-9a-f]{16}/, '0'.repeat(16));
  expect((await fetch(`${api.url}${other}`)).status).toBe(404);
});

test.each(installedNodes())('starts a run and throws typed errors under %s', async (node) => {
  const program = join(folder, 'use.js');
  writeFileSync(
    program,
    `import { Flowrun, NotFound } from '@flowrun/client';
    const flowrun = new Flowrun();
    const { record } = await flowrun.run('A flow', { prompt: 'Go' });
    const error = await flowrun.getRun('none').catch((reason) => reason);
    console.log(JSON.stringify([record.status, error instanceof NotFound, error.code]));`,
  );
  const env = { FLOWRUN_URL: api.url, FLOWRUN_KEY: tenant.key };
  const { stdout } = await run(node, [program], { env });
  expect(JSON.parse(stdout)).toEqual(['running', true, 'NOT_FOUND']);
});

test.each([
  ['a browser', ['--lib', 'es2024,dom,dom.iterable,dom.asynciterable', '--types', '']],
  ['Node', ['--lib', 'es2024', '--types', 'node']],
])('has types that hold without skipLibCheck, with the types of %s', async (_, options) => {
  writeFileSync(
    join(folder, 'use.ts'),
    `import { Flowrun, type RunEvent } from '@flowrun/client';
    const flowrun = new Flowrun({ url: 'http://127.0.0.1' });
    const run = await flowrun.run('A flow', { prompt: 'Go', labels: { order: '4711' } });
    export const text = (event: RunEvent) => event.type === 'chat_output' ? event.data.text.length : 0;
    export const cost: number | null = (await run.result()).costUsd;\n`,
  );
  writeFileSync(
    join(folder, 'misuse.ts'),
    `import { Flowrun } from '@flowrun/client';
    await new Flowrun().run('A flow', { prompt: 1 });\n`,
  );
  const tsc = join(repository, 'node_modules/.bin/tsc');
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noEmit',
    '--skipLibCheck',
    'false',
  ];
  const module = ['--module', 'nodenext', '--target', 'es2024', '--ignoreConfig'];
  const roots = ['--typeRoots', join(repository, 'node_modules/@types')];
  const args = [...strict, ...module, ...roots, ...options, 'use.ts', 'misuse.ts'];
  const compiling = run(tsc, args, { cwd: folder });
  const { stdout } = await compiling.catch((error: { stdout: string }) => error);
  const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
  expect(errors).toEqual([expect.stringMatching(/^misuse\.ts\(2,.*error TS2322: .*'number'/)]);
});
