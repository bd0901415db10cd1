// The production server of Temporal on Postgres, for tests that kill the server and expect
// workflows to continue, which the dev server cannot do. It comes from the same build as the dev
// server.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { searchAttributeNames } from '../../../core/temporal/search-attribute-names.ts';
import type { Folders } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { startDaemon, stopDaemon } from '../daemon.ts';
import { acceptsConnections, ensurePort } from '../ports.ts';
import type { ServerTls } from './server-tls.ts';
import { temporalPrograms } from './temporal-binary.ts';

const name = 'temporal-server';
const retention = '72h';
/** The dev server has one; four suit a small machine. */
const shards = '4';
const services = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
const stores = [
  { database: 'temporal', schema: 'postgresql/v12/temporal' },
  { database: 'temporal_visibility', schema: 'postgresql/v12/visibility' },
];

/** Returns its address. A second call restarts it on the same port with its data. */
export function ensureTemporalServer(
  folders: Folders,
  postgresUrl: string,
  tls?: ServerTls,
): Promise<string> {
  return step(name, async (progress) => {
    const programs = await temporalPrograms(progress);
    if (!existsSync(programs.server)) {
      throw new SetupError('The production server of Temporal must be built: install Go 1.26.4.');
    }
    const port = await ensurePort(folders.data, name);
    const address = `127.0.0.1:${port}`;
    const isNew = !existsSync(join(folders.data, `${name}.made`));
    progress('creating its databases');
    if (isNew) await makeDatabases(programs.sqlTool, new URL(postgresUrl));
    progress('starting');
    await start(folders, { program: programs.server, postgresUrl, port, tls });
    if (isNew) await makeNamespace(programs.cli, { address, tls });
    writeFileSync(join(folders.data, `${name}.made`), '');
    return { value: address, summary: `started on ${address}` };
  });
}

export function stopTemporalServer(folders: Folders, signal?: 'SIGKILL'): Promise<boolean> {
  return stopDaemon(folders, name, signal === undefined ? {} : { signal });
}

async function makeDatabases(sqlTool: string, postgres: URL): Promise<void> {
  const { hostname, port, username, password } = postgres;
  const env = { ...process.env, SQL_PASSWORD: password };
  for (const { database, schema } of stores) {
    const connection = ['--plugin', 'postgres12', '--ep', hostname, '-p', port, '-u', username];
    const run = (...args: string[]) =>
      runCommand(sqlTool, [...connection, '--db', database, ...args], { env });
    await run('create');
    await run('setup-schema', '-v', '0.0');
    await run('update-schema', '--schema-name', schema);
  }
}

interface Start {
  program: string;
  postgresUrl: string;
  port: number;
  tls: ServerTls | undefined;
}

async function start(folders: Folders, { program, postgresUrl, port, tls }: Start): Promise<void> {
  const { hostname, port: postgresPort, username, password } = new URL(postgresUrl);
  const settings = join(folders.data, `${name}.yaml`);
  writeFileSync(settings, dynamicConfig);
  const env = {
    PATH: process.env.PATH,
    LOG_LEVEL: 'warn',
    DB: 'postgres12',
    POSTGRES_SEEDS: hostname,
    DB_PORT: postgresPort,
    POSTGRES_USER: username,
    POSTGRES_PWD: password,
    NUM_HISTORY_SHARDS: shards,
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: settings,
    ...(await servicePorts(folders)),
    ...(tls === undefined ? {} : requireClientTls(tls)),
    FRONTEND_GRPC_PORT: `${port}`,
  };
  await startDaemon(folders, {
    name,
    command: program,
    args: ['--allow-no-auth', 'start'],
    cwd: folders.data,
    env,
    ready: () => acceptsConnections(port),
  });
}

/** Its services use TLS between each other as well, all with the same certificate. */
const requireClientTls = ({ ca, certificate, key }: ServerTls) => ({
  TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
  TEMPORAL_TLS_SERVER_CA_CERT: ca,
  TEMPORAL_TLS_SERVER_CERT: certificate,
  TEMPORAL_TLS_SERVER_KEY: key,
  TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'localhost',
  TEMPORAL_TLS_FRONTEND_CERT: certificate,
  TEMPORAL_TLS_FRONTEND_KEY: key,
  TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'localhost',
  TEMPORAL_TLS_CLIENT1_CA_CERT: ca,
});

/**
 * Raises the limit of 20 task loads per second and shard, which would delay every workflow step.
 */
const dynamicConfig = ['transfer', 'timer', 'visibility']
  .map((queue) => `history.${queue}ProcessorMaxPollRPS:\n  - value: 2000\n`)
  .join('');

/** Ports on loopback by which its services reach each other; the defaults may be in use. */
async function servicePorts(folders: Folders): Promise<Record<string, string>> {
  const ports: Record<string, string> = {};
  const assign = async (variable: string): Promise<void> => {
    const server = `${name}-${variable.toLowerCase()}`;
    ports[variable] = `${await ensurePort(folders.data, server)}`;
  };
  for (const service of services) {
    await assign(`${service}_GRPC_PORT`);
    await assign(`${service}_MEMBERSHIP_PORT`);
  }
  await assign('FRONTEND_HTTP_PORT');
  return ports;
}

async function makeNamespace(
  cli: string,
  { address, tls }: { address: string; tls: ServerTls | undefined },
): Promise<void> {
  const tlsFlags =
    tls === undefined
      ? []
      : [
          ...['--tls-ca-path', tls.ca, '--tls-cert-path', tls.certificate],
          ...['--tls-key-path', tls.key],
        ];
  const run = (...args: string[]) =>
    runCommand(cli, ['operator', ...args, '--address', address, ...tlsFlags]);
  await retryForAMinute(() =>
    run('namespace', 'create', '-n', 'default', '--retention', retention),
  );
  const attributes = searchAttributeNames.flatMap((key) => ['--name', key, '--type', 'Keyword']);
  await retryForAMinute(() => run('search-attribute', 'create', ...attributes));
  await retryForAMinute(async () => {
    const list = await run('search-attribute', 'list');
    if (!searchAttributeNames.every((key) => list.includes(key))) throw new Error('not yet');
  });
}

/** A server that listens may still reject calls. */
async function retryForAMinute(work: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      return void (await work());
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
