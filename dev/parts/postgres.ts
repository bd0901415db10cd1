// Postgres: a given server, else a cluster of the stack's own made with the installed binaries.
// The server refuses to run as root, so under root it runs as an unprivileged user, to whom the
// cluster's folder belongs.

import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from '../apt.ts';
import { isRunning, startBackground, stopBackground } from '../background.ts';
import { CannotGoOn } from '../failure.ts';
import { type Folders, isRoot } from '../folders.ts';
import { checkGiven } from '../given.ts';
import { answers, keptPort, readPort } from '../ports.ts';
import { step } from '../progress.ts';
import { findOnPath, run } from '../run.ts';
import { keptSecret } from '../secrets.ts';
import { unprivilegedUser } from '../users.ts';

const name = 'postgres';
const database = 'flowrun';
const packagedBinaries = '/usr/lib/postgresql';

/** The URL of a server that may make databases; `given` is the one the reader has. */
export function ensurePostgres(folders: Folders, given?: string): Promise<string> {
  return step(name, async (now) => {
    if (given) {
      await checkGiven('DATABASE_URL', given);
      return { value: given, said: 'given by DATABASE_URL' };
    }
    const kept = readPort(join(folders.data, `${name}.port`));
    if (kept !== undefined && isRunning(folders, name) && (await answers(kept))) {
      return { value: urlOf(folders, kept), said: `running on 127.0.0.1:${kept}` };
    }
    await stopPostgres(folders);
    const port = await start(folders, now);
    return { value: urlOf(folders, port), said: `started on 127.0.0.1:${port}` };
  });
}

/** Fast shutdown: open transactions are rolled back, nothing is left to recover. */
export function stopPostgres(folders: Folders): Promise<boolean> {
  return stopBackground(folders, name, { signal: 'SIGINT' });
}

async function start(folders: Folders, now: (doing: string) => void): Promise<number> {
  const owner = isRoot ? unprivilegedUser() : undefined;
  const who = owner === undefined ? {} : { uid: owner.uid, gid: owner.gid };
  const home = join(folders.data, name);
  const cluster = join(home, 'cluster');
  const binaries = (await findBinaries(cluster)) ?? (await installBinaries(cluster, now));
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (owner !== undefined) chownSync(home, owner.uid, owner.gid);
  if (!existsSync(cluster)) await makeCluster(binaries, home, passwordOf(folders), who);
  const port = await keptPort(folders.data, name);
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
  };
  await startBackground(folders, {
    name,
    command: join(binaries, 'postgres'),
    args: ['-D', cluster, ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`])],
    cwd: home,
    ...who,
    ready: () => accepts(binaries, port),
  });
  return port;
}

/** Made under another name first, so that a cluster that is there is a whole one. */
async function makeCluster(
  binaries: string,
  home: string,
  password: string,
  who: { uid?: number; gid?: number },
): Promise<void> {
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
  await run('sh', ['-c', script, home, binaries], { env, cwd: home, ...who });
}

async function accepts(binaries: string, port: number): Promise<boolean> {
  if (!(await answers(port))) return false;
  return run(join(binaries, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', `${port}`]).then(
    () => true,
    () => false,
  );
}

/** The newest server there is; for a cluster that exists, the one of its version. */
async function findBinaries(cluster: string): Promise<string | undefined> {
  const wanted = existsSync(join(cluster, 'PG_VERSION'))
    ? readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    : undefined;
  for (const folder of binaryFolders()) {
    if (!existsSync(join(folder, 'initdb')) || !existsSync(join(folder, 'postgres'))) continue;
    const version = /(\d+)/.exec(await run(join(folder, 'postgres'), ['--version']))?.[1];
    if (wanted === undefined || wanted === version) return folder;
  }
  return undefined;
}

function binaryFolders(): string[] {
  const packaged = existsSync(packagedBinaries) ? readdirSync(packagedBinaries) : [];
  const newestFirst = packaged.sort((a, b) => Number(b) - Number(a));
  const onPath = findOnPath('initdb');
  return [
    ...newestFirst.map((version) => join(packagedBinaries, version, 'bin')),
    ...(onPath === undefined ? [] : [dirname(onPath)]),
  ];
}

async function installBinaries(cluster: string, now: (doing: string) => void): Promise<string> {
  await installPackages(['postgresql', 'postgresql-common'], now);
  const binaries = await findBinaries(cluster);
  if (binaries !== undefined) return binaries;
  throw new CannotGoOn(
    `The cluster in ${cluster} is of another Postgres version than the installed ones. ` +
      'Install that version, or delete the folder and lose its data.',
  );
}

function urlOf(folders: Folders, port: number): string {
  return `postgres://postgres:${passwordOf(folders)}@127.0.0.1:${port}/${database}`;
}

function passwordOf(folders: Folders): string {
  return keptSecret(join(folders.data, 'postgres.secret'));
}
