// A self-hoster's steps, in this order, on an unedited clone. Each test continues where the
// previous one ended.

import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isGenuine, startReceiver } from '../../dev/demo/webhook-receiver.ts';
import { supportsSubpath } from '../../systems/docker/mount-source.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { followQuickStart } from '../support/quick-start.ts';
import type { SentEvent } from '../support/sent-events.ts';
import {
  type Access,
  asCloned,
  authority,
  caFile,
  clone,
  compose,
  docker,
  flowrun,
  loseEverything,
  makeAccess,
  part,
  parts,
  receiverReachable,
  sandboxes,
  set,
  slowly,
  until,
  untilReady,
  url,
  withBackup,
} from './compose.ts';

const once = ['secrets', 'migrate', 'sandbox-image', 'temporal-schema', 'temporal-namespace'];
const stores = ['postgres', 'redis', 'temporal'];
const lasting = [...stores, 'temporal-ui', 'model', 'api', 'worker'];

let access: Access;
let chat: Conversation;
let inBackup: string[];
const sessionId = 'ticket-4711';

beforeAll(async () => {
  asCloned();
  await compose('up', '-d', '--wait');
  await untilReady();
});
afterAll(() => loseEverything());

test('starts completely: one-time jobs succeed, everything else keeps running', async () => {
  const found = await parts();
  expect(Object.keys(found).sort()).toEqual([...once, ...lasting].sort());
  for (const name of once) expect(found[name]).toMatchObject({ State: 'exited', ExitCode: 0 });
  for (const name of lasting) expect(found[name]).toMatchObject({ State: 'running' });
  for (const name of [...stores, 'model', 'api'])
    expect(found[name]).toMatchObject({ Health: 'healthy' });
  for (const name of lasting)
    expect((await part(name)).HostConfig.RestartPolicy.Name).toBe('unless-stopped');
});

test('is reachable from this machine only, and its servers are not reachable at all', async () => {
  for (const name of [...once, ...lasting]) {
    const bindings = Object.values((await part(name)).HostConfig.PortBindings ?? {}).flat();
    const expected = { api: ['127.0.0.1:8080'], 'temporal-ui': ['127.0.0.1:8233'] }[name] ?? [];
    expect(bindings.map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`)).toEqual(expected);
  }
  expect(await (await fetch('http://127.0.0.1:8233/')).text()).toContain('<!doctype html>');
});

test('only the worker has the engine’s socket, and both services have few privileges', async () => {
  for (const name of lasting) {
    const sockets = (await part(name)).Mounts.filter(({ Source }) =>
      Source.endsWith('docker.sock'),
    );
    expect(sockets.length).toBe(name === 'worker' ? 1 : 0);
  }
  const { Config, HostConfig } = await part('worker');
  expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] });
  expect(HostConfig.CapAdd?.map((name) => name.replace('CAP_', ''))).toEqual([
    'CHOWN',
    'DAC_OVERRIDE',
    'FOWNER',
  ]);
  expect(Config.User).toBe('0:0');
  const api = await part('api');
  expect(api.Config.User).toBe('node');
  expect(await compose('exec', '-T', 'api', 'id', '-u')).not.toBe('0\n');
  expect(api.HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] });
});

test('the first page and the log say that no model key is set, and the log lets the first operator in', async () => {
  const page = await fetch('http://127.0.0.1:8080/sign-in');
  expect(await page.text()).toContain('&quot;offlineModel&quot;:true');
  const offline = /^worker-1 .*"msg":"offline_model"/m;
  await until('the worker logs it', async () => offline.test(await compose('logs', 'worker')));
  const log = await compose('logs', 'api');
  expect(log).toMatch(/^api-1 .*"msg":"no_model_key"/m);
  expect(log).toMatch(/"link":"http:\/\/127.0.0.1:8080\/sign-in#.*"msg":"first_sign_in"/);
});

test('the quick start works', () => followQuickStart({ folder: clone, url, env: process.env }));

test('a key is created and a run is streamed; its sandbox sees only its own folders', async () => {
  access = await makeAccess(`acme-${randomBytes(3).toString('hex')}`);
  const { runId } = await access.trigger({ prompt: slowly(8, 'hello.md') });
  await until('its sandbox is there', async () => (await sandboxes()).length === 1);
  const [sandbox] = await sandboxes();
  expect(sandbox?.HostConfig.NetworkMode).toBe('none');
  const api = (await docker('version', '--format', '{{.Server.APIVersion}}')).trim();
  const mountpoint = await docker('volume', 'inspect', '-f', '{{.Mountpoint}}', 'flowrun_data');
  for (const mount of sandbox?.Mounts ?? []) {
    if (supportsSubpath(api)) expect(mount).toMatchObject({ Type: 'volume', Name: 'flowrun_data' });
    else expect(mount.Source).toMatch(`${mountpoint.trim()}/`);
  }
  expect(sandbox?.Mounts.length).toBe(4);
  const events: SentEvent[] = [];
  for await (const event of access.stream(runId)) events.push(event);
  expect(JSON.parse(events.at(-1)?.data ?? '{}')).toMatchObject({ reason: 'completed' });
  expect(await access.readRun(runId)).toMatchObject({ exitCode: 0, result: 'Written: hello.md' });
  expect((await access.call('GET', `/runs/${runId}/files/hello.md`)).status).toBe(200);
});

test('a signed webhook is received, where private receivers were allowed', async () => {
  set({ WEBHOOK_ALLOW_PRIVATE: '10.0.0.0/8,172.16.0.0/12' });
  writeFileSync(join(clone, 'docker-compose.override.yml'), receiverReachable);
  await compose('up', '-d');
  await untilReady();
  const receiver = await startReceiver(
    {
      folder: authority,
      ca: caFile,
      certificate: join(authority, 'server.crt'),
      key: join(authority, 'server.key'),
    },
    '0.0.0.0',
  );
  const callbackUrl = receiver.url.replace('localhost', 'host.docker.internal');
  const { runId } = await access.trigger({ prompt: 'Write hello.md', callbackUrl });
  const { webhookSecret = '' } = await flowrun('project', 'webhook-secret', access.projectId);
  const delivery = await receiver.received;
  expect(isGenuine(delivery, webhookSecret)).toBe(true);
  expect(JSON.parse(delivery.body)).toMatchObject({ runId });
  receiver.close();
});

test('a worker that is killed during a run restarts, and the run continues to its one end', async () => {
  const { runId } = await access.trigger({ prompt: slowly(25, 'survived.md') });
  await until('it works', async () => (await access.readRun(runId)).agentStatus === 'working');
  const before = await part('worker');
  process.kill(before.State.Pid, 'SIGKILL');
  await until('it is back', async () => {
    const { State } = await part('worker');
    return State.Running && State.StartedAt !== before.State.StartedAt;
  });
  expect((await part('worker')).Id).toBe(before.Id);
  expect(await access.untilEnded(runId, 180_000)).toMatchObject({
    exitCode: 0,
    result: 'Written: survived.md',
  });
  expect((await access.call('GET', `/runs/${runId}/files/survived.md`)).status).toBe(200);
});

test('an image that has changed replaces the service, and neither a run nor a session notices', async () => {
  await docker('build', '-t', 'flowrun:local', '--label', `changed=${Date.now()}`, '.');
  chat = await openConversation(access, { sessionId });
  await chat.say('Remember that the door code is 4711.');
  const { runId } = await access.trigger({ prompt: slowly(40, 'upgraded.md') });
  await until('it works', async () => (await access.readRun(runId)).agentStatus === 'working');
  const [sandboxesBefore, workerBefore] = [await sandboxes(), await part('worker')];
  await compose('up', '-d');
  await untilReady();
  expect((await part('worker')).Id).not.toBe(workerBefore.Id);
  const left = (await sandboxes()).map(({ Id, State }) => `${Id} ${State.StartedAt}`);
  expect(left.sort()).toEqual(
    sandboxesBefore.map(({ Id, State }) => `${Id} ${State.StartedAt}`).sort(),
  );
  expect(await access.untilEnded(runId, 180_000)).toMatchObject({
    exitCode: 0,
    result: 'Written: upgraded.md',
  });
  expect((await access.call('GET', `/runs/${runId}/files/upgraded.md`)).status).toBe(200);
  expect(await sendMessage('What is the door code that I told you before?')).toContain('4711');
});

test('down and up keep everything: the key, the run’s files, the session', async () => {
  await compose('down');
  expect(await parts().catch(() => ({}))).toEqual({});
  await compose('up', '-d');
  await untilReady();
  const runs = await access.call<{ runId: string }[]>('GET', '/runs?limit=50');
  expect(runs.data.length).toBeGreaterThanOrEqual(4);
  expect(await sendMessage('What is the door code that I told you before?')).toContain('4711');
});

test('backs up the running service; after the restore, a later run counts as lost', async () => {
  mkdirSync(join(clone, 'backups'));
  writeFileSync(join(clone, 'backups/passphrase'), 'correct horse battery staple');
  inBackup = await runIds();
  await withBackup('backup', backupFile, ...passphrase);
  const { runId } = await access.trigger({ prompt: 'Write later.md' });
  await access.untilEnded(runId, 180_000);
  await compose('stop', 'api', 'worker');
  await withBackup('restore', backupFile, '--replace');
  await compose('up', '-d');
  await untilReady();
  expect(await sendMessage('What is the door code that I told you before?')).toContain('4711');
  // Temporal still has its workflow, and is compared a minute after the restore.
  await until(
    'its end is reported',
    async () => (await access.readRun(runId)).error === 'lost_in_restore',
  );
});

test('on a machine with only the backup and its passphrase, all but sessions continues', async () => {
  await loseEverything();
  // Alone, because other services would create another key.
  const alone = ['run', '--rm', '-T', '--no-deps', 'backup'];
  await compose(...alone, 'restore', backupFile, '--key-to', '/backups/key', ...passphrase);
  const key = readFileSync(join(clone, 'backups/key'), 'utf8').trim();
  appendFileSync(join(clone, '.env'), `ENCRYPTION_KEY=${key}\n`);
  await withBackup('restore', backupFile);
  await compose('up', '-d');
  await untilReady();
  expect(await runIds()).toEqual(inBackup);
  const { runId } = await access.trigger({ prompt: 'Write again.md' });
  expect(await access.untilEnded(runId, 180_000)).toMatchObject({ exitCode: 0 });
  // This Temporal is another one, which has no workflow of the session.
  const ended = await access.untilEnded(chat.runId, 180_000);
  expect(ended.error).toBe('max_reconnects_exceeded');
});

const backupFile = '/backups/one';
const passphrase = ['--passphrase-file', '/backups/passphrase'];

async function runIds(): Promise<string[]> {
  const { data } = await access.call<{ runId: string }[]>('GET', '/runs?limit=50');
  return data.map(({ runId }) => runId);
}

/** A message of the session, and the agent's answer. */
async function sendMessage(message: string): Promise<string> {
  const path = `/flows/${access.flowId}/chat`;
  const body = { sessionId, message, stream: false };
  const answer = await access.call<{ text: string }>('POST', path, { body });
  expect(answer.status).toBe(200);
  return answer.data.text;
}
