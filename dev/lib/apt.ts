// Installs Debian packages without starting their services. During an installation, a policy file
// forbids services to start, and a setting stops Postgres from creating a cluster.

import { existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFileLock } from '../stack/lock.ts';
import { cacheFolder, isRoot } from './folders.ts';
import { print } from './progress.ts';
import { runCommand } from './run-command.ts';
import { SetupError } from './setup-error.ts';

const policyFile = '/usr/sbin/policy-rc.d';
const clusterFile = '/etc/postgresql-common/createcluster.d/flowrun.conf';

/** Installs packages, or throws an error that names what the reader has to do. Safe to repeat. */
export async function installPackages(packages: string[], progress: (doing: string) => void) {
  const names = packages.join(' ');
  if (!isRoot) throw new SetupError(`Install ${names}, or run this command as root.`);
  requireApt(names);
  progress(`installing ${names}`);
  await withFileLock(lockFile(), () => installQuietly(packages));
}

/** Downloads the file of a package into a folder, and installs nothing. */
export async function downloadPackage(
  { name, folder }: { name: string; folder: string },
  progress: (doing: string) => void,
) {
  requireApt(name);
  progress(`downloading ${name}`);
  const download = () => apt(['download', name], folder);
  try {
    await withFileLock(lockFile(), () => download().catch(() => apt(['update']).then(download)));
  } catch (error) {
    throw new SetupError(`Downloading ${name} failed.\n${String(error)}`);
  }
}

const lockFile = () => join(cacheFolder(), 'apt.lock');

function requireApt(names: string): void {
  if (existsSync('/usr/bin/apt-get')) return;
  throw new SetupError(`Install ${names}: this machine has no apt-get.`);
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
    for (const removeFile of undo) removeFile();
    resumeSignals();
  }
}

/**
 * Delays Ctrl-C until the installation is complete, because an interrupted one leaves broken
 * packages.
 */
function deferSignals(): () => void {
  let received: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals) => {
    received = signal;
    print('packages       finishing the installation first …');
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

function apt(args: string[], cwd?: string): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return runCommand('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    env,
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Writes a file, with its folders. Returns a function that removes both. */
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
    // A package has put files into the folder.
  }
}
