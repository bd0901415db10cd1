// `npm run test:quotas` checks the project quotas on ext4 and XFS. It starts a kernel as a program
// (user-mode Linux), because the kernel of this machine may have no quotas. That kernel sees the
// files of this machine read-only, and two disks that are files in memory.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../lib/apt.ts';
import { foldersOf, repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { findOnPath } from '../lib/run-command.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { withStackLock } from '../stack/lock.ts';
import { abortOnSignals } from './run-in-foreground.ts';
import { reportTallies, type Tally } from './tally.ts';

const programs = ['linux.uml', 'insmod', 'mkfs.ext4', 'mkfs.xfs', 'repquota'];
const packages = ['user-mode-linux', 'kmod', 'e2fsprogs', 'xfsprogs', 'quota'];
const timeoutMs = 20 * 60_000;

await withStackLock('quotas', testQuotas)
  .then((tally) => reportTallies([tally]))
  .catch(exitWithError);

async function testQuotas(): Promise<Tally> {
  const signal = abortOnSignals();
  if (!programs.every((program) => findOnPath(program, ['/usr/sbin', '/sbin'])))
    await installPackages(packages, print);
  const folder = mkdtempSync('/dev/shm/quotas-');
  try {
    const init = writeInit();
    const disks = [makeDisk(folder, 'ext4', 160), makeDisk(folder, 'xfs', 384)];
    print('\n── project quotas, in user-mode Linux');
    return tallyOf(await boot({ init, disks, folder, signal }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A sparse file. */
function makeDisk(folder: string, name: string, sizeMiB: number): string {
  const path = join(folder, name);
  writeFileSync(path, '');
  truncateSync(path, sizeMiB * 1024 ** 2);
  return path;
}

/**
 * The first process of that kernel. It runs the tests and turns the machine off. The kernel has its
 * own `/dev`, so this file cannot be in `/dev/shm`.
 */
function writeInit(): string {
  const path = join(foldersOf('quotas').data, 'init');
  const guest = join(repository, 'test/quotas/quotas.guest.ts');
  const lines = [
    '#!/bin/sh',
    'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt TMPDIR=/mnt',
    'mount -t proc proc /proc',
    'mount -t tmpfs tmpfs /mnt',
    // Debian's kernel has the quotas of ext4 as modules.
    'for name in quota_tree quota_v2; do insmod $(find /usr/lib/uml/modules -name $name.ko); done',
    `${process.execPath} --test-reporter=tap ${guest} 2>&1`,
    `perl -e 'syscall 169, 0xfee1dead, 672274793, 0x4321fedc, 0'`, // reboot(power off)
  ];
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o755 });
  return path;
}

interface Boot {
  init: string;
  disks: string[];
  folder: string;
  signal: AbortSignal;
}

/** Returns what the kernel and the tests print. */
async function boot({ init, disks, folder, signal }: Boot): Promise<string> {
  const args = [
    ...['mem=768M', 'loglevel=1', 'rootfstype=hostfs', 'ro', `init=${init}`, `uml_dir=${folder}`],
    ...['con=null', 'con0=null,fd:1', 'con1=null,fd:1', 'ssl=null'],
    ...disks.map((disk, index) => `ubd${index}=${disk}`),
  ];
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn('linux.uml', args, {
    env,
    signal,
    timeout: timeoutMs,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}

/** A kernel that ends before the summary counts as one failure. */
function tallyOf(output: string): Tally {
  const count = (name: string): number | undefined => {
    const found = new RegExp(`^# ${name} (\\d+)`, 'm').exec(output)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const [passed, failed, cancelled] = [count('pass'), count('fail'), count('cancelled')];
  if (passed === undefined || failed === undefined) return { passed: 0, failed: 1 };
  return { passed, failed: failed + (cancelled ?? 0) };
}
