// A copy of this suite's own Postgres, which can be started in its place: on another timeline, as
// after point-in-time recovery or the promotion of a replica.

import { appendFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../../dev/lib/run-command.ts';
import { stopDaemon } from '../../../dev/stack/daemon.ts';
import { ensurePostgres, stopPostgres } from '../../../dev/stack/servers/postgres.ts';
import { postgresBinaries } from '../../../dev/stack/servers/postgres-binaries.ts';
import { faultTestFolders } from '../../../dev/test-runner/fault-test-servers.ts';

const folders = faultTestFolders();
const home = join(folders.data, 'postgres');
const cluster = join(home, 'cluster');
const copy = join(home, 'copy');

/** Copies the running server, with everything that it has committed until now. */
export async function copyPostgres(url: string): Promise<void> {
  await run('pg_basebackup', ['-D', copy, '-X', 'stream', '-c', 'fast', '-d', url]);
}

/** Kills the server, and continues with the earlier copy. */
export async function replaceByCopy(): Promise<void> {
  await stopDaemon(folders, 'postgres', { signal: 'SIGQUIT' });
  await startCopy();
}

/** Stops the server in good order, and continues with a copy of everything. */
export async function replaceWithoutLoss(): Promise<void> {
  await stopPostgres(folders);
  await runCommand('cp', ['-a', cluster, copy]);
  await startCopy();
}

/** Recovery without an archive ends at once, and begins a new timeline. */
async function startCopy(): Promise<void> {
  rmSync(cluster, { recursive: true });
  renameSync(copy, cluster);
  appendFileSync(join(cluster, 'postgresql.auto.conf'), "restore_command = 'false'\n");
  writeFileSync(join(cluster, 'recovery.signal'), '');
  await ensurePostgres(folders);
}

async function run(program: string, args: string[]): Promise<void> {
  const { uid, gid } = statSync(home);
  const binaries = await postgresBinaries(cluster, () => undefined);
  await runCommand(join(binaries, program), args, { cwd: home, uid, gid });
}
