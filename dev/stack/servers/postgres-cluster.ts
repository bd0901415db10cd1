// The cluster's files. They belong to an unprivileged user where root starts the server, which refuses
// to run as root.

import { chownSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRoot } from '../../lib/folders.ts';
import { runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { type User, unprivilegedUser } from '../../lib/users.ts';

export interface Cluster {
  folder: string;
  /** Whom the server has to run as; empty for the one who asks. */
  user: Partial<User>;
}

export interface ClusterOptions {
  home: string;
  binaries: string;
  password: string;
  database: string;
}

/** Makes the cluster with an empty database in it, or finds the one there is. */
export async function ensureCluster(wish: ClusterOptions): Promise<Cluster> {
  const who = isRoot ? ownerOf(wish.home) : {};
  mkdirSync(wish.home, { recursive: true, mode: 0o700 });
  await requireAccess(wish.home, who);
  const folder = join(wish.home, 'cluster');
  if (!existsSync(folder)) await makeCluster(wish, who);
  return { folder, user: who };
}

/** Whoever has the cluster goes on having it, whichever users the machine has got since. */
function ownerOf(home: string): User {
  if (!existsSync(home)) {
    mkdirSync(home, { mode: 0o700 });
    const { uid, gid } = unprivilegedUser();
    chownSync(home, uid, gid);
  }
  const { uid, gid } = statSync(home);
  return { uid, gid };
}

async function requireAccess(home: string, who: Partial<User>): Promise<void> {
  try {
    await runCommand('sh', ['-c', 'cd "$0"', home], { cwd: '/', ...who });
  } catch {
    throw new SetupError(
      `Postgres runs as user ${who.uid}, who may not enter ${home}. ` +
        'Set FLOWRUN_DATA to a folder that everybody may pass through.',
    );
  }
}

/** Made under another name first, so that a cluster that is there is a whole one. */
async function makeCluster(wish: ClusterOptions, who: Partial<User>): Promise<void> {
  const { home, binaries, password, database } = wish;
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
  await runCommand('sh', ['-c', script, home, binaries], { env, cwd: home, ...who });
}
