// What an operator does with the served command line and a token instead of a key.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RemoteCli } from '../../support/remote-cli.ts';
import { useTenant } from '../api/use-api.ts';
import { newToken, userWith } from './operator-user.ts';

const { fixture, api, tenant } = useTenant();

async function login(flowrun: RemoteCli, token: string, ...options: string[]) {
  const process = flowrun.start('login', api.url, '--token', ...options);
  process.write(`${token}\n`);
  process.closeInput();
  return process.ended;
}

test('login stores a valid token, which the commands for runs use instead of a key', async () => {
  const flowrun = userWith();
  const token = await newToken(fixture, [tenant.projectId]);
  const refused = await login(flowrun, token.replace(/.$/, 'A').replace(/..$/, 'BA'));
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('login <url> --token') });
  expect(await login(flowrun, token)).toMatchObject({ code: 0 });
  const file = join(flowrun.home, '.config/flowrun/contexts.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { host } = new URL(api.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    current: host,
    contexts: { [host]: { url: api.url, token } },
  });
  const run = await flowrun('run', 'A flow', 'Go', '--detach', '--json');
  expect(run.code, run.err).toBe(0);
  const started = JSON.parse(run.out) as { projectId: string; triggerType: string };
  expect(started).toMatchObject({ projectId: tenant.projectId, triggerType: 'dashboard' });
  expect((await flowrun('runs', '--json')).out).toContain(tenant.flowId);
  // A shell waits only a second for the names.
  const completed = async () => (await flowrun('complete', '--', 'run', 'A')).out;
  await expect.poll(completed, { timeout: 60_000 }).toBe('A flow\n');
  expect((await flowrun('export', 'flows', '--json')).out).toContain('.md');
  expect((await flowrun('context', 'list', '--json')).out).not.toContain(token);
});

test('a token for several projects needs one of them', async () => {
  const other = await fixture.tenant();
  const projects = [tenant.projectId, other.projectId];
  const token = await newToken(fixture, projects);
  const flowrun = userWith();
  const unknown = await login(flowrun, token, '--project', 'nowhere');
  expect(unknown.err).toContain('No such project: nowhere. Projects: ');
  expect((await login(flowrun, token)).err).toContain('Choose one with --project');
  const missing = await flowrun('runs');
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('Pass --project') });
  for (const project of projects) expect(missing.err).toContain(project);
  const chosen = flowrun.with({ FLOWRUN_PROJECT: other.projectId });
  const { out } = await chosen('run', other.flowId, 'Go', '--detach', '--json');
  expect(JSON.parse(out)).toMatchObject({ projectId: other.projectId });
  expect(await login(flowrun, token, '--project', other.projectId)).toMatchObject({ code: 0 });
  expect(JSON.parse((await flowrun('runs', '--json')).out)).toHaveLength(1);
});

test('a context keeps its key when a token is added, and the key has precedence', async () => {
  const other = await fixture.tenant();
  const flowrun = userWith();
  await flowrun('login', api.url, '--key', tenant.key);
  expect(await login(flowrun, await newToken(fixture, [other.projectId]))).toMatchObject({
    code: 0,
  });
  const { out } = await flowrun('run', 'A flow', 'Go', '--detach', '--json');
  expect(JSON.parse(out)).toMatchObject({ projectId: tenant.projectId, triggerType: 'api' });
  expect((await flowrun('export', 'flows', '--json')).code).toBe(0);
});

test('a terminal asks for the token and does not show it', async () => {
  const flowrun = userWith();
  const token = await newToken(fixture, [tenant.projectId]);
  const asked = flowrun.inTerminal('login', api.url, '--token');
  await asked.untilOut('Operator token: ');
  asked.write(`${token}\r`);
  const { code, out } = await asked.ended;
  expect(code, out).toBe(0);
  expect(out).toContain('Signed in to');
  expect(out).not.toContain(token);
  const left = flowrun.inTerminal('login', api.url, '--token');
  await left.untilOut('Operator token: ');
  left.write('\u0003');
  expect(await left.ended).toMatchObject({ code: 130 });
});

test('a token in the arguments is refused', async () => {
  const flowrun = userWith();
  expect(await flowrun('login', api.url, '--token', 'fro_x')).toMatchObject({ code: 2 });
  expect(await flowrun('login', api.url, '--token', '--key', 'frs_x')).toMatchObject({ code: 2 });
});
