import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../../dev/lib/run-command.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import { postgresBinaries } from '../../../dev/stack/servers/postgres-binaries.ts';
import { ensureCluster } from '../../../dev/stack/servers/postgres-cluster.ts';
import { migrate } from '../../../systems/postgres/schema/migrate.ts';
import { stackEnv } from '../stack-env.ts';

export interface OwnPostgres {
  url: string;
  stop(): Promise<void>;
}

const database = 'counters';

/**
 * A server whose databases have no other transactions than those of their clients. Autovacuum is
 * off. New databases have the schema, because Postgres adds a transaction when a client creates so
 * many objects. The server ends with the process that started it, because it then loses its
 * standard input.
 */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const home = join(stackEnv.dataDir, `pg-${randomBytes(3).toString('hex')}`);
  const binaries = await postgresBinaries(home, () => undefined);
  const password = randomBytes(12).toString('hex');
  const { folder, user } = await ensureCluster({ home, binaries, password, database });
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 100,
    autovacuum: 'off',
    fsync: 'off',
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const script = '"$@" & cat > /dev/null; kill -INT $!; wait $!';
  const child = spawn(
    'sh',
    ['-c', script, 'sh', join(binaries, 'postgres'), '-D', folder, ...flags],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: home,
      ...user,
    },
  );
  const exit = once(child, 'exit');
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const stop = async (): Promise<void> => {
    child.stdin?.end();
    await exit;
    rmSync(home, { recursive: true, force: true });
  };
  while (!(await isReady(binaries, port))) {
    if (child.exitCode !== null) throw new Error('Postgres has ended before it was ready');
    await sleep(20);
  }
  await migrate(inDatabase(url, 'template1'));
  return { url, stop };
}

/** The address of another database of the same server. */
export function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

const isReady = (binaries: string, port: number): Promise<boolean> =>
  runCommand(join(binaries, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', `${port}`]).then(
    () => true,
    () => false,
  );
