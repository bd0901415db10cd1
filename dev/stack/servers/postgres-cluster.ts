// The files of a Postgres cluster. If root starts the server, they belong to an unprivileged user,
// because Postgres refuses to run as root.

import { chownSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRoot } from '../../lib/folders.ts';
import { runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { type User, unprivilegedUser } from '../../lib/users.ts';

interface Cluster {
  folder: string;
  /** The user the server runs as. Empty for the current user. */
  user: Partial<User>;
}

interface ClusterOptions {
  home: string;
  binaries: string;
  password: string;
  database: string;
}

/** Creates the cluster with an empty database, unless it exists. */
export async function ensureCluster(options: ClusterOptions): Promise<Cluster> {
  const user = isRoot ? ownerOf(options.home) : {};
  mkdirSync(options.home, { recursive: true, mode: 0o700 });
  await requireAccess(options.home, user);
  const folder = join(options.home, 'cluster');
  if (!existsSync(folder)) await makeCluster(options, user);
  return { folder, user };
}

/** The owner of an existing cluster, even if the machine has other users since its creation. */
function ownerOf(home: string): User {
  if (!existsSync(home)) {
    mkdirSync(home, { mode: 0o700 });
    const { uid, gid } = unprivilegedUser();
    chownSync(home, uid, gid);
  }
  const { uid, gid } = statSync(home);
  return { uid, gid };
}

async function requireAccess(home: string, user: Partial<User>): Promise<void> {
  try {
    await runCommand('sh', ['-c', 'cd "$0"', home], { cwd: '/', ...user });
  } catch {
    throw new SetupError(
      `Postgres runs as user ${user.uid}, which cannot enter ${home}. ` +
        'Set FLOWRUN_DATA to a folder that all users may traverse.',
    );
  }
}

/** Creates under another name and renames, so that the cluster exists only if it is complete. */
async function makeCluster(options: ClusterOptions, user: Partial<User>): Promise<void> {
  const { home, binaries, password, database } = options;
  const part = join(home, 'cluster.part');
  rmSync(part, { recursive: true, force: true });
  const script = [
    'umask 077',
    'cd "$0"',
    'printf %s "$PASSWORD" > password',
    '"$1/initdb" -D cluster.part -U postgres -A scram-sha-256 --pwfile=password -E UTF8 --locale=C.UTF-8',
    'rm password',
    `echo 'create database ${database}' | "$1/postgres" --single -D cluster.part postgres`,
    'mv cluster.part cluster',
  ].join(' && ');
  const env = { PATH: process.env.PATH, PASSWORD: password };
  await runCommand('sh', ['-c', script, home, binaries], { env, cwd: home, ...user });
}
