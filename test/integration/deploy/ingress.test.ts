// The ingress when a host is added or removed, with the test's own Postgres and Redis, which are
// started and restarted as in deploy/hosts.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { allow, hostNames, pathsIn } from '../../../deploy/hosts/allowlist.ts';
import { createHostCertificate, keyPairIn } from '../../../deploy/hosts/certificates.ts';
import { type IngressTargets, reloadIngress } from '../../../deploy/hosts/ingress.ts';
import { runHostsCommand } from '../../../deploy/hosts/main-command.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import { postgresBinaries } from '../../../dev/stack/servers/postgres-binaries.ts';
import { ensureCluster } from '../../../dev/stack/servers/postgres-cluster.ts';
import { prepareSecrets } from './prepare-secrets.ts';
import { openSlowProxy } from './slow-proxy.ts';

const password = 'a-password';

let secrets: string;
let stores: IngressTargets;
let redisTlsPort: number;
let postgres: ChildProcess;
let redis: ChildProcess;
let isOver = false;

beforeAll(async () => {
  secrets = await prepareSecrets(password);
  const at = async () => ({ host: '127.0.0.1', port: await freePort() });
  const temporalEntrance = join(secrets, 'caddy.sock');
  stores = { secrets, postgres: await at(), redis: await at(), temporalIngress: temporalEntrance };
  redisTlsPort = await freePort();
  await startPostgres();
  startRedis();
});
afterAll(async () => {
  isOver = true;
  for (const each of [postgres, redis]) {
    if (each.exitCode !== null) continue;
    each.kill('SIGKILL');
    await once(each, 'exit');
  }
  rmSync(secrets, { recursive: true });
});

/** worker-2 is on the allowlist of both stores. */
beforeEach(async () => {
  const pair = keyPairIn(join(secrets, 'joined'));
  await createHostCertificate(pair, 'worker-2');
  allow(pathsIn(secrets), 'worker-2', pair.certificate);
  await expect.poll(() => superuser('select pg_reload_conf()')).toBe(1);
  const list = join(secrets, 'redis/hosts.crt');
  await expect
    .poll(() => redisCommand('inside', ['config', 'set', 'tls-ca-cert-file', list]))
    .toBe('OK');
  await expect.poll(() => redisCommand('host', ['ping'])).toBe('PONG');
});

test('removing a host reverts its changes to the configuration of Redis', async () => {
  expect(await redisCommand('nobody', ['ping'])).not.toBe('PONG');
  expect(await redisCommand('host', ['config', 'set', 'tls-auth-clients', 'no'])).toBe('OK');
  expect(await redisCommand('nobody', ['ping'])).toBe('PONG');
  expect(await runHostsCommand(['remove', 'worker-2'], stores)).toBe(0);
  await expect.poll(() => redisCommand('inside', ['ping'])).toBe('PONG');
  expect(await redisCommand('nobody', ['ping'])).not.toBe('PONG');
  expect(await redisCommand('host', ['ping'])).not.toBe('PONG');
});

test('closes a connection that was authenticating while its host was removed', async () => {
  const proxy = await openSlowProxy(stores.postgres.port);
  const late = hostClient(proxy.port);
  const ended = endOf(late);
  const outcome = late.connect().then(() => 'in', String);
  await proxy.held;
  const removed = runHostsCommand(['remove', 'worker-2'], stores);
  // Longer than listing the connections takes, shorter than the timeout of Postgres.
  setTimeout(proxy.release, 1000);
  // It may be closed before it receives the end of its authentication.
  expect(await outcome).toMatch(/^in$|terminating connection/);
  expect(await removed).toBe(0);
  await ended;
  expect(await superuser(heldByHost)).toBe(0);
  expect(
    await hostClient(stores.postgres.port)
      .connect()
      .then(() => 'in', String),
  ).not.toBe('in');
  proxy.close();
});

test('remove reloads one ingress if the other fails, and can be repeated', async () => {
  const held = hostClient(stores.postgres.port);
  const ended = endOf(held);
  await held.connect();
  const away = { ...stores, redis: { host: '127.0.0.1', port: await freePort() } };
  expect(await runHostsCommand(['remove', 'worker-2'], away)).toBe(1);
  await ended;
  expect(hostNames(pathsIn(secrets))).toEqual([]);
  expect(await redisCommand('host', ['ping'])).toBe('PONG');
  expect(await runHostsCommand(['remove', 'worker-2'], stores)).toBe(0);
  await expect.poll(() => redisCommand('inside', ['ping'])).toBe('PONG');
  expect(await redisCommand('host', ['ping'])).not.toBe('PONG');
});

// In the tests above it does not exist, which is not an error.
test('remove restarts the ingress of Temporal, add does not', async () => {
  const orders: (string | undefined)[] = [];
  let status = 500;
  const entrance = createHttpServer(({ method, url }, answer) => {
    orders.push(`${method} ${url}`);
    answer.writeHead(status).end();
  }).listen(stores.temporalIngress);
  await once(entrance, 'listening');
  expect(await runHostsCommand(['remove', 'worker-2'], stores)).toBe(1);
  status = 200;
  expect(await runHostsCommand(['remove', 'worker-2'], stores)).toBe(0);
  expect(orders).toEqual(['POST /stop', 'POST /stop']);
  await expect.poll(() => redisCommand('inside', ['ping'])).toBe('PONG');
  await reloadIngress(stores);
  expect(orders).toHaveLength(2);
  entrance.close();
});

test('a failed add leaves no host on the allowlist', async () => {
  vi.stubEnv('FLOWRUN_HOSTS_NAME', 'localhost');
  onTestFinished(() => void vi.unstubAllEnvs());
  const away = { ...stores, redis: { host: '127.0.0.1', port: await freePort() } };
  expect(await runHostsCommand(['add', 'worker-3'], away)).toBe(1);
  expect(hostNames(pathsIn(secrets))).toEqual(['worker-2']);
});

const heldByHost = `select 1 from pg_stat_ssl where client_dn = '/CN=worker-2'`;

async function startPostgres(): Promise<void> {
  const home = join(secrets, 'home');
  const binaries = await postgresBinaries(join(home, 'cluster'), () => undefined);
  const { folder, user: who } = await ensureCluster({
    home,
    binaries,
    password,
    database: 'flowrun',
  });
  const key = join(home, 'server.key');
  copyFileSync(join(secrets, 'postgres/server.key'), key);
  chmodSync(key, 0o600);
  if (who.uid !== undefined && who.gid !== undefined) chownSync(key, who.uid, who.gid);
  const rules = join(home, 'pg_hba.conf');
  const others = 'hostssl all all all scram-sha-256 clientcert=verify-ca';
  writeFileSync(rules, `hostnossl all postgres all scram-sha-256\n${others}\n`);
  const settings = {
    port: stores.postgres.port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    authentication_timeout: '2s',
    hba_file: rules,
    ssl: 'on',
    ssl_cert_file: join(secrets, 'postgres/server.crt'),
    ssl_key_file: key,
    ssl_ca_file: join(secrets, 'postgres/hosts.crt'),
  };
  const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const how = { ...who, cwd: home, stdio: 'ignore' } as const;
  postgres = spawn(join(binaries, 'postgres'), ['-D', folder, ...set], how);
}

function startRedis(): void {
  const file = join(secrets, 'redis/redis.conf');
  writeFileSync(file, `requirepass ${password}\nsave ""\nappendonly no\nbind 127.0.0.1\n`);
  const tls = ['--tls-port', String(redisTlsPort)];
  for (const [name, of] of [
    ['cert', 'server.crt'],
    ['key', 'server.key'],
    ['ca-cert', 'hosts.crt'],
  ]) {
    tls.push(`--tls-${name}-file`, join(secrets, 'redis', String(of)));
  }
  const line = [file, '--port', String(stores.redis.port), ...tls];
  redis = spawn('redis-server', line, { cwd: secrets, stdio: 'ignore' });
  redis.on('exit', () => {
    if (!isOver) startRedis();
  });
}

/** The response, or the error. */
async function redisCommand(as: 'inside' | 'host' | 'nobody', [verb = '', ...rest]: string[]) {
  const ca = readFileSync(pathsIn(secrets).authority.certificate);
  const port = as === 'inside' ? stores.redis.port : redisTlsPort;
  const common = { port, host: '127.0.0.1', password, lazyConnect: true };
  const own = as === 'host' ? hostPair() : {};
  const tls = as === 'inside' ? {} : { tls: { ca, servername: 'localhost', ...own } };
  const client = new Redis({ ...common, ...tls, retryStrategy: () => null });
  client.on('error', () => undefined);
  const cut = new Promise<string>((resolve) => client.once('end', () => resolve('cut')));
  const answer = client.connect().then(() => client.call(verb, ...rest));
  try {
    return await Promise.race([answer.then(String, String), cut]);
  } finally {
    client.disconnect();
  }
}

function hostClient(port: number): pg.Client {
  const ca = readFileSync(pathsIn(secrets).authority.certificate);
  const ssl = { ca, ...hostPair() };
  const client = new pg.Client({ host: 'localhost', port, user: 'postgres', password, ssl });
  client.on('error', () => undefined);
  return client;
}

/** Skips output before the match. */
const endOf = (client: pg.Client) => new Promise((resolve) => client.once('end', resolve));

function hostPair() {
  const pair = keyPairIn(join(secrets, 'joined'));
  return { key: readFileSync(pair.key), cert: readFileSync(pair.certificate) };
}

/** The number of rows of the result. */
async function superuser(query: string): Promise<number | null> {
  const client = new pg.Client({ ...stores.postgres, user: 'postgres', password });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(query)).rowCount;
  } catch {
    return null;
  } finally {
    await client.end();
  }
}
