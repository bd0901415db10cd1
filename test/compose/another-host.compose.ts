// Another machine joins as docs/operate.md describes under "More hosts": the first one enables its
// ingress and makes a bundle; the other unpacks it and starts. Each test continues where the one
// before it ended.

import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHostCertificate, keyPairIn } from '../../deploy/hosts/certificates.ts';
import { runCommand } from '../../dev/lib/run-command.ts';
import type { SentEvent } from '../support/sent-events.ts';
import {
  type Access,
  asCloned,
  clone,
  compose,
  docker,
  loseEverything,
  makeAccess,
  part,
  set,
  slowly,
  until,
  untilReady,
  url,
} from './compose.ts';
import {
  carryImages,
  firstAddress,
  type OtherMachine,
  otherAddress,
  sandboxIds,
  startOtherMachine,
  tryIngressFromFirst,
} from './other-machine.ts';

const everyEntrance = ['postgres', 'redis', 'temporal'] as const;
const open = { postgres: 'open', redis: 'open', temporal: 'open' };

let other: OtherMachine;
let access: Access;
/** The files that were unpacked there. */
let bundle: string;

beforeAll(async () => {
  asCloned();
  set({
    COMPOSE_FILE: 'docker-compose.yml:deploy/hosts/primary.yml',
    FLOWRUN_HOSTS_NAME: firstAddress,
  });
  await compose('up', '-d');
  await untilReady();
  access = await makeAccess(`acme-${randomBytes(3).toString('hex')}`);
  other = await startOtherMachine();
  await carryImages('flowrun:local', 'flowrun-sandbox:local');
  bundle = join(other.folder, 'host');
});
afterAll(async () => {
  await loseEverything();
  asCloned();
  await other.stop();
});

test('a host joins by its bundle and one command', async () => {
  await runCommand('sh', ['-ec', 'docker compose run --rm -T hosts add worker-2 > worker-2.tar'], {
    cwd: clone,
  });
  await runCommand('tar', ['-xf', join(clone, 'worker-2.tar'), '-C', other.folder]);
  for (const file of ['.env', 'host/host.key', 'host/encryption-key', 'host/database-url']) {
    expect(statSync(join(other.folder, file)).mode & 0o077).toBe(0);
  }
  // The socket of this machine's engine, set as in docs/settings.md.
  appendFileSync(join(other.folder, '.env'), `DOCKER_SOCKET=${other.socket}\n`);
  await other.docker('compose', 'up', '-d');
  await until('it is seen', async () => (await hosts()).some(({ name }) => name === 'worker-2'));
  expect(await compose('run', '--rm', '-T', 'hosts', 'list')).toBe('worker-2\n');
});

test('a run assigned to it runs there, and is streamed through the API to its end', async () => {
  await drain('docker');
  const { runId } = await access.trigger({ prompt: slowly(5, 'far.md') });
  const events: SentEvent[] = [];
  const placed: string[][] = [];
  for await (const event of access.stream(runId)) {
    events.push(event);
    if (placed.length === 0 && event.event === 'assistant') {
      placed.push(await sandboxIds(docker), await sandboxIds(other.docker));
    }
  }
  expect(placed.map((ids) => ids.length)).toEqual([0, 1]);
  expect(JSON.parse(events.at(-1)?.data ?? '{}')).toMatchObject({ reason: 'completed' });
  expect(await access.readRun(runId)).toMatchObject({ exitCode: 0, result: 'Written: far.md' });
  expect((await access.call('GET', `/runs/${runId}/files/far.md`)).status).toBe(200);
});

test('each ingress accepts only certificates on the allowlist', async () => {
  expect(await other.tryIngress({ bundle, as: 'host' })).toEqual(open);
  const nobody = await other.tryIngress({ bundle, as: 'nobody' });
  expect(nobody.postgres).toContain('connection requires a valid client certificate');
  for (const each of everyEntrance) expect(nobody[each]).not.toBe('open');
  const pair = keyPairIn(other.folder);
  await createHostCertificate(pair, 'worker-2');
  const stranger = await other.tryIngress({ bundle, as: 'stranger', pair });
  for (const each of everyEntrance) expect(stranger[each]).not.toBe('open');
});

test('connections without TLS are refused, from outside and through the engine’s forwarder', async () => {
  const outside = await other.tryIngress({ bundle, as: 'plain' });
  expect(outside.postgres).toContain(`no pg_hba.conf entry for host "${otherAddress}"`);
  for (const each of everyEntrance) expect(outside[each]).not.toBe('open');
  const forwarded = await tryIngressFromFirst({ bundle, as: 'plain', address: '127.0.0.1' });
  expect(forwarded.postgres).toContain('pg_hba.conf rejects connection');
  for (const each of everyEntrance) expect(forwarded[each]).not.toBe('open');
});

test('no container has the key of the authority', async () => {
  for (const service of ['postgres', 'redis', 'temporal-ingress', 'api', 'worker']) {
    const volumes = (await part(service)).Mounts.map(({ Name }) => Name);
    expect(volumes).not.toContain('flowrun_secrets-hosts');
  }
  expect(existsSync(join(bundle, 'authority.key'))).toBe(false);
});

test('a drained host receives nothing new until it is undrained', async () => {
  await undrain('docker');
  await drain('worker-2');
  expect(await whereOneRuns()).toEqual({ first: 1, other: 0 });
  await undrain('worker-2');
  await drain('docker');
  expect(await whereOneRuns()).toEqual({ first: 0, other: 1 });
  await undrain('docker');
});

test('without compose a host is one command, as docs/more-hosts.md has it', async () => {
  // For some seconds it still counts as alive.
  await drain('worker-2');
  await other.docker('compose', 'stop', 'worker');
  const settings = Object.entries({ ...byHand, TEMPORAL_ADDRESS: `${firstAddress}:7243` });
  const env = settings.map(([name, value]) => `${name}=${value}\n`).join('');
  writeFileSync(join(other.folder, 'worker.env'), env);
  const page = readFileSync(join(other.folder, 'docs/more-hosts.md'), 'utf8');
  const [command = ''] = /^docker run (?:.*\\\n)+.* worker$/m.exec(page) ?? [];
  const line = command
    .replace('docker run', `run --network flowrun_default`)
    .replace('--env-file worker.env', `--env-file ${join(other.folder, 'worker.env')}`)
    .replace('/var/run/docker.sock:', `${other.socket}:`)
    .replace('/etc/flowrun:', `${bundle}:`);
  await other.docker(...line.split(/[\s\\]+/));
  await until('it is seen', async () => (await hosts()).some(({ name }) => name === 'by-hand'));
  await drain('docker');
  expect(await whereOneRuns()).toEqual({ first: 0, other: 1 });
  await drain('by-hand');
  await undrain('docker');
  await other.docker('rm', '--force', 'flowrun-worker');
  await other.docker('compose', 'start', 'worker');
  await undrain('worker-2');
  await until('the other one is back', async () => (await connectionsOf('worker-2')) > 0);
});

test('a removed host is rejected everywhere, and its open connections are closed', async () => {
  expect(await connectionsOf('worker-2')).toBeGreaterThan(0);
  // The same call as the host itself could make.
  await tellRedis('config set tls-auth-clients no');
  const { StartedAt: entranceBefore } = (await part('temporal-ingress')).State;
  await compose('run', '--rm', '-T', 'hosts', 'remove', 'worker-2');
  expect(await compose('run', '--rm', '-T', 'hosts', 'list')).toBe('');
  await until('every entrance refuses it', async () => {
    const answers = await other.tryIngress({ bundle, as: 'host' });
    return everyEntrance.every((each) => answers[each] !== 'open');
  });
  expect((await other.tryIngress({ bundle, as: 'nobody' })).redis).not.toBe('open');
  expect(await connectionsOf('worker-2')).toBe(0);
  // Its open connections have ended with the program that held them.
  const { Running, StartedAt } = (await part('temporal-ingress')).State;
  expect([Running, StartedAt === entranceBefore]).toEqual([true, false]);
  await drain('worker-2');
  expect(await whereOneRuns()).toEqual({ first: 1, other: 0 });
});

/** The network is that of the other machine's compose, for the sake of its offline model. */
const byHand = {
  HOST_NAME: 'by-hand',
  INSTANCE: 'flowrun',
  DATABASE_URL_FILE: '/secrets/database-url',
  REDIS_URL_FILE: '/secrets/redis-url',
  ENCRYPTION_KEY_FILE: '/secrets/encryption-key',
  TEMPORAL_NAMESPACE: 'flowrun',
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/secrets/authority.crt',
  TEMPORAL_TLS_CLIENT_CERT_PATH: '/secrets/host.crt',
  TEMPORAL_TLS_CLIENT_KEY_PATH: '/secrets/host.key',
  REDIS_TLS_CA_FILE: '/secrets/authority.crt',
  REDIS_TLS_CERT_FILE: '/secrets/host.crt',
  REDIS_TLS_KEY_FILE: '/secrets/host.key',
  OFFLINE_MODEL_URL: 'http://model:8090',
  PUBLIC_URL: url,
  SANDBOX_IMAGE: 'flowrun-sandbox:local',
  DATA_DIR: '/data',
  DATA_VOLUME: 'worker_data',
};

interface HostView {
  hostId: string;
  name: string;
}

async function hosts(): Promise<HostView[]> {
  const listed = await compose('exec', '-T', 'api', 'flowrun', 'host', 'list', '--json');
  return JSON.parse(listed) as HostView[]; // as --json promises
}

const drain = (name: string): Promise<void> => tellHost(name, 'drain');
const undrain = (name: string): Promise<void> => tellHost(name, 'undrain');

async function tellHost(name: string, verb: string): Promise<void> {
  const host = (await hosts()).find((each) => each.name === name);
  if (host === undefined) throw new Error(`no host ${name}`);
  await compose('exec', '-T', 'api', 'flowrun', 'host', verb, host.hostId);
}

async function whereOneRuns(): Promise<{ first: number; other: number }> {
  const { runId } = await access.trigger({ prompt: slowly(5, 'placed.md') });
  await until('it works', async () => (await access.readRun(runId)).agentStatus === 'working');
  const [first, second] = await Promise.all([sandboxIds(docker), sandboxIds(other.docker)]);
  expect(await access.untilEnded(runId)).toMatchObject({ exitCode: 0 });
  return { first: first.length, other: second.length };
}

async function tellRedis(command: string): Promise<void> {
  const line = `REDISCLI_AUTH="$(cat /secrets/password)" redis-cli ${command} | grep -q OK`;
  await compose('exec', '-T', 'redis', 'sh', '-c', line);
}

async function connectionsOf(name: string): Promise<number> {
  const query = `select count(*) from pg_stat_ssl where client_dn = '/CN=${name}'`;
  const psql = ['exec', '-T', 'postgres', 'psql', '-U', 'postgres', '-Atc', query];
  return Number(await compose(...psql));
}
