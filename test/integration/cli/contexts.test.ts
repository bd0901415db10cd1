// Contexts and the package of the served command line, as its users get it.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { installedNodes } from '../../support/installed-nodes.ts';
import { type RemoteCli, remoteCli, servedCli } from '../../support/remote-cli.ts';
import { useTenant } from '../api/use-api.ts';

const { api, tenant } = useTenant();

function userWith(env: Record<string, string> = {}): RemoteCli {
  const flowrun = remoteCli(env);
  onTestFinished(() => flowrun.remove());
  return flowrun;
}

test('runs from the address of the service without any registry', async () => {
  const { home } = userWith();
  const { stdout } = await promisify(execFile)('npx', ['--yes', `${api.url}/cli.tgz`, '--help'], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_update_notifier: 'false',
    },
  });
  expect(stdout).toMatch(/^Usage: flowrun /);
});

test.each(installedNodes())('starts a run under %s', async (node) => {
  const env = { FLOWRUN_URL: api.url, FLOWRUN_KEY: tenant.key, HOME: userWith().home };
  const args = [servedCli, 'run', 'A flow', 'Go', '--detach', '--json'];
  const { stdout } = await promisify(execFile)(node, args, { env });
  expect(JSON.parse(stdout)).toMatchObject({ flowId: tenant.flowId, status: 'running' });
});

test('login stores a valid key where only its user can read it', async () => {
  const flowrun = userWith();
  const refused = await flowrun('login', api.url, '--key', 'frs_wrong');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('flowrun login <url>') });
  expect((await flowrun('runs')).err).toContain('No service is selected.');

  const process = flowrun.start('login', `${api.url}/api/v1/`, '--key', '-', '--name', 'test');
  process.write(`${tenant.key}\n`);
  process.closeInput();
  expect(await process.ended).toMatchObject({ code: 0 });
  const file = join(flowrun.home, '.config/flowrun/contexts.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    current: 'test',
    contexts: { test: { url: api.url, key: tenant.key } },
  });
  expect(JSON.parse((await flowrun('runs', '--json')).out)).toBeInstanceOf(Array);
});

test('contexts are listed, selected and removed, and their keys are not shown', async () => {
  const flowrun = userWith({ FLOWRUN_KEY: tenant.key });
  for (const name of ['one', 'two']) await flowrun('login', api.url, '--name', name);
  expect((await flowrun('context', 'use', 'one')).code).toBe(0);
  const { out } = await flowrun('context', 'list', '--json');
  expect(JSON.parse(out)).toMatchObject([
    { name: 'one', current: true },
    { name: 'two', current: false },
  ]);
  expect(out).not.toContain(tenant.key);
  expect((await flowrun('context', 'rm', 'one')).code).toBe(0);
  const removed = await flowrun('context', 'use', 'one');
  expect(removed).toMatchObject({ code: 1, err: 'No such context: one. Known contexts: two.\n' });
});

test('the key of a context is sent to no other address', async () => {
  const requests: unknown[] = [];
  const other = createServer(({ headers }, response) => {
    requests.push(headers.authorization);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const flowrun = userWith();
  await flowrun('login', api.url, '--key', tenant.key);
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const refused = await flowrun.with({ FLOWRUN_URL: url })('runs');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('FLOWRUN_KEY') });
  await flowrun.with({ FLOWRUN_URL: url, FLOWRUN_KEY: 'frs_other' })('runs');
  expect(requests).toEqual(['Bearer frs_other']);
});

test('errors name the flows, and what to do', async () => {
  const flowrun = userWith({ FLOWRUN_URL: api.url, FLOWRUN_KEY: tenant.key });
  const unreachable = flowrun.with({ FLOWRUN_URL: 'http://127.0.0.1:9' })('runs');
  const unknown = await flowrun('run', 'no such flow', 'Go');
  expect(unknown.err).toContain(`Flows: A flow (${tenant.flowId})`);
  const none = await flowrun('logs', 'zzz');
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('flowrun runs') });
  const last = await flowrun('logs', '@');
  expect(last.err).toContain('was started from here');
  const usage = await flowrun('run', 'A flow', '--wait', '--detach');
  expect(usage.code).toBe(2);
  expect(await unreachable).toMatchObject({
    code: 1,
    err: expect.stringContaining('flowrun context list'),
  });
});

test('a folder that cannot be written to does not fail a run', async () => {
  const flowrun = userWith({ FLOWRUN_URL: api.url, FLOWRUN_KEY: tenant.key });
  mkdirSync(join(flowrun.home, '.config/flowrun/last-runs.json'), { recursive: true });
  const run = await flowrun('run', 'A flow', 'Go', '--detach');
  expect(run).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
});

test('a shell completes commands, options and the names of flows', async () => {
  const flowrun = userWith({ FLOWRUN_URL: api.url, FLOWRUN_KEY: tenant.key });
  const complete = async (...words: string[]) =>
    (await flowrun('complete', '--', ...words)).out.trim().split('\n');
  expect(await complete('lo')).toEqual(['login', 'logs']);
  expect(await complete('context', '')).toEqual(['list', 'use', 'rm', 'help']);
  expect(await complete('run', '--max')).toEqual(['--max-budget-usd', '--max-turns']);
  // A shell waits only a second for the names.
  await expect.poll(() => complete('run', 'A'), { timeout: 60_000 }).toEqual(['A flow']);
  expect(await complete('run', 'A flow', '')).toEqual(['']);
  // The names are known for some time, without a call.
  const { out: cached } = await flowrun.with({ FLOWRUN_URL: api.url, FLOWRUN_KEY: 'frs_no' })(
    ...['complete', '--', 'chat', ''],
  );
  expect(cached).toBe('A flow\n');

  const { out: completion } = await flowrun('completion', 'bash');
  const line = `${completion}
    flowrun() { "${process.execPath}" "${servedCli}" "$@"; }
    COMP_WORDS=(flowrun files c); COMP_CWORD=2; _flowrun; echo "\${COMPREPLY[@]}"`;
  const env = { HOME: flowrun.home, PATH: process.env['PATH'] };
  const { stdout } = await promisify(execFile)('bash', ['-c', line], { env });
  expect(stdout).toBe('cat\n');
});
