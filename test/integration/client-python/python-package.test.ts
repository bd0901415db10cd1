// The Python package as its users get it: from the service, without a registry.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPythonPackage } from '../../../deploy/packages/python-package.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { useTenant } from '../api/use-api.ts';

const run = promisify(execFile);
const { api, tenant } = useTenant();

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'client-python-'));
  const options = ['--no-index', '--no-deps', '--quiet', '--target', folder];
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', ...options];
  await run(stackEnv.python, [...pip, `${api.url}/client-python.tar.gz`]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const installed = (name: string): string => readFileSync(join(folder, name), 'utf8');

test('is built from the current sources, with its types', () => {
  const modules = Object.entries(buildPythonPackage()).filter(([name]) =>
    name.startsWith('flowrun/'),
  );
  expect(modules.map(([name]) => name)).toContain('flowrun/py.typed');
  for (const [name, text] of modules)
    expect(installed(name) === text, `${name} is out of date`).toBe(true);
});

test('has a fixed address, and one for each build that may be cached forever', async () => {
  const current = await fetch(`${api.url}/client-python.tar.gz`);
  expect(current.headers.get('cache-control')).toBe('no-cache');
  const bytes = Buffer.from(await current.arrayBuffer());
  const path = current.headers.get('content-location') ?? '';
  expect(path).toMatch(/^\/client-python-\d+\.\d+\.\d+-[0-9a-f]{16}\.tar\.gz$/);
  const build = await fetch(`${api.url}${path}`);
  expect(build.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(Buffer.from(await build.arrayBuffer())).toEqual(bytes);
  const other = path.replace(/[0-9a-f]{16}/, '0'.repeat(16));
  expect((await fetch(`${api.url}${other}`)).status).toBe(404);
});

test('starts a run and raises typed errors', async () => {
  const program = join(folder, 'use.py');
  writeFileSync(
    program,
    `from flowrun import Flowrun, NotFound

with Flowrun() as flowrun:
    run = flowrun.run("A flow", prompt="Go", context={"who": "Grüße"})
    try:
        flowrun.get_run("none")
    except NotFound as error:
        print(run.record.status, error.code, run.record.created_at.tzinfo)
`,
  );
  const env = { FLOWRUN_URL: api.url, FLOWRUN_KEY: tenant.key, PYTHONPATH: folder };
  const { stdout } = await run(stackEnv.python, [program], { env });
  expect(stdout).toBe('running NOT_FOUND UTC\n');
});
