// Debian's packages, without what their installation starts on its own: a policy file that forbids
// services to start, and none of Postgres' own clusters. Both are there for the installation only.

import { existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFileLock } from '../stack/lock.ts';
import { cacheFolder, isRoot } from './folders.ts';
import { print } from './progress.ts';
import { runCommand } from './run-command.ts';
import { SetupError } from './setup-error.ts';

const policyFile = '/usr/sbin/policy-rc.d';
const clusterFile = '/etc/postgresql-common/createcluster.d/flowrun.conf';

/** Installs packages; says what to do where that is not possible. Repeating it changes nothing. */
export async function installPackages(packages: string[], progress: (doing: string) => void) {
  const names = packages.join(' ');
  if (!isRoot) throw new SetupError(`${names} must be installed, and only root may do that.`);
  if (!existsSync('/usr/bin/apt-get')) {
    throw new SetupError(`${names} must be installed; this machine has no apt-get to do it with.`);
  }
  progress(`installing ${names}`);
  await withFileLock(join(cacheFolder(), 'apt.lock'), () => installQuietly(packages));
}

async function installQuietly(packages: string[]): Promise<void> {
  const undo = [
    ...(existsSync(policyFile) ? [] : [putFile(policyFile, '#!/bin/sh\nexit 101\n', 0o755)]),
    putFile(clusterFile, 'create_main_cluster = false\n', 0o644),
  ];
  const resumeSignals = deferSignals();
  try {
    await install(packages).catch(async () => {
      await apt(['update']);
      await install(packages);
    });
  } catch (error) {
    throw new SetupError(`Installing ${packages.join(' ')} failed.\n${String(error)}`);
  } finally {
    for (const back of undo) back();
    resumeSignals();
  }
}

/** Ctrl-C waits for the installation, which would be left half done, and is heeded after it. */
function deferSignals(): () => void {
  let received: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals) => {
    received = signal;
    print('packages       the installation is finished first …');
  };
  process.on('SIGINT', hold).on('SIGTERM', hold);
  return () => {
    process.off('SIGINT', hold).off('SIGTERM', hold);
    if (received !== undefined) process.kill(process.pid, received);
  };
}

function install(packages: string[]): Promise<string> {
  return apt(['install', '-y', '--no-install-recommends', ...packages]);
}

function apt(args: string[]): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return runCommand('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    env,
    detached: true,
  });
}

/** Writes a file, with the folders it needs, and returns what takes both away again. */
function putFile(file: string, content: string, mode: number): () => void {
  const made = mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content, { mode });
  return () => {
    rmSync(file, { force: true });
    if (made !== undefined) removeEmpty(dirname(file));
  };
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // A package has put something of its own there meanwhile.
  }
}
