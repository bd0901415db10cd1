// Postgres: the server of DATABASE_URL, or the stack's own with the installed binaries, on a
// cluster in the stack's folder.

import { join } from 'node:path';
import type { Folders } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { runCommand } from '../../lib/run-command.ts';
import { ensureSecret } from '../../lib/secrets.ts';
import { isRunning, startDaemon, stopDaemon } from '../daemon.ts';
import { requireReachable } from '../external-server.ts';
import { acceptsConnections, ensurePort, readPort } from '../ports.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { ensureCluster } from './postgres-cluster.ts';

const name = 'postgres';
const database = 'flowrun';

type Settings = Record<string, string | number>;

/** Returns the URL of a server whose user may create databases. */
export function ensurePostgres(
  folders: Folders,
  externalUrl?: string,
  extraSettings: Settings = {},
): Promise<string> {
  return step(name, async (progress) => {
    if (externalUrl) {
      await requireReachable('DATABASE_URL', externalUrl);
      return { value: externalUrl, summary: 'set by DATABASE_URL' };
    }
    const lastPort = readPort(join(folders.data, `${name}.port`));
    if (
      lastPort !== undefined &&
      isRunning(folders, name) &&
      (await acceptsConnections(lastPort))
    ) {
      return { value: urlOf(folders, lastPort), summary: `running on 127.0.0.1:${lastPort}` };
    }
    await stopPostgres(folders);
    const port = await start(folders, extraSettings, progress);
    return { value: urlOf(folders, port), summary: `started on 127.0.0.1:${port}` };
  });
}

/** SIGINT is Postgres's fast shutdown: it rolls back open transactions and needs no recovery. */
export function stopPostgres(folders: Folders): Promise<boolean> {
  return stopDaemon(folders, name, { signal: 'SIGINT' });
}

async function start(
  folders: Folders,
  extraSettings: Settings,
  progress: (doing: string) => void,
): Promise<number> {
  const home = join(folders.data, name);
  const binaries = await postgresBinaries(join(home, 'cluster'), progress);
  const password = passwordOf(folders);
  const cluster = await ensureCluster({ home, binaries, password, database });
  const port = await ensurePort(folders.data, name);
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    ...extraSettings,
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  await startDaemon(folders, {
    name,
    command: join(binaries, 'postgres'),
    args: ['-D', cluster.folder, ...flags],
    cwd: home,
    ...cluster.user,
    ready: () => accepts(binaries, port),
  });
  return port;
}

async function accepts(binaries: string, port: number): Promise<boolean> {
  if (!(await acceptsConnections(port))) return false;
  return runCommand(join(binaries, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', `${port}`]).then(
    () => true,
    () => false,
  );
}

function urlOf(folders: Folders, port: number): string {
  return `postgres://postgres:${passwordOf(folders)}@127.0.0.1:${port}/${database}`;
}

function passwordOf(folders: Folders): string {
  return ensureSecret(join(folders.data, 'postgres.secret'));
}
