// Builds the files of node:24-bookworm-slim: Debian by debootstrap, Node and npm from the npm
// registry, pinned by hash in dev/from-source/base-image.

import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../lib/apt.ts';
import { requireDiskSpace } from '../lib/disk.ts';
import { cacheFolder, repository } from '../lib/folders.ts';
import { findOnPath, runCommand } from '../lib/run-command.ts';

const suite = 'bookworm';
const mirror = 'http://deb.debian.org/debian';
const sources = [
  `deb ${mirror} ${suite} main`,
  `deb ${mirror} ${suite}-updates main`,
  `deb ${mirror}-security ${suite}-security main`,
];

/** The archive appears whole or not at all. */
export async function buildRootFolder(
  file: string,
  progress: (doing: string) => void,
): Promise<void> {
  requireDiskSpace(cacheFolder(), 'building the base image');
  const root = join(cacheFolder(), 'base-image.part');
  await clear(root);
  mkdirSync(root, { mode: 0o755 });
  try {
    await installDebian(join(root, 'files'), progress);
    await installNode(join(root, 'files'), join(root, 'npm'), progress);
    progress('packing');
    await runCommand('tar', [
      '--numeric-owner',
      '-C',
      join(root, 'files'),
      '-cf',
      `${file}.part`,
      '.',
    ]);
    renameSync(`${file}.part`, file);
  } finally {
    await clear(root);
  }
}

/** An interrupted debootstrap leaves the kernel's file systems mounted inside. */
async function clear(root: string): Promise<void> {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const inside = mounts.map((line) => line.split(' ')[1] ?? '').filter((at) => at.startsWith(root));
  for (const at of inside.reverse()) await runCommand('umount', ['--lazy', at]);
  rmSync(root, { recursive: true, force: true });
}

async function installDebian(root: string, progress: (doing: string) => void): Promise<void> {
  const folders = ['/usr/sbin'];
  if (findOnPath('debootstrap', folders) === undefined)
    await installPackages(['debootstrap'], progress);
  const program = findOnPath('debootstrap', folders) ?? 'debootstrap';
  progress('unpacking Debian');
  await runCommand(program, [
    '--variant=minbase',
    '--include=ca-certificates',
    suite,
    root,
    mirror,
  ]);
  writeFileSync(join(root, 'etc/apt/sources.list'), `${sources.join('\n')}\n`);
  progress('bringing Debian up to date');
  const update = 'apt-get -q update && apt-get -qy dist-upgrade && apt-get clean';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  await runCommand(
    'chroot',
    [root, 'sh', '-c', `${update} && useradd -m -u 1000 -s /bin/bash node`],
    {
      env,
    },
  );
  rmSync(join(root, 'var/lib/apt/lists'), { recursive: true });
  rmSync(join(root, 'etc/resolv.conf'), { force: true });
}

async function installNode(
  root: string,
  work: string,
  progress: (doing: string) => void,
): Promise<void> {
  progress('fetching Node');
  cpSync(join(repository, 'dev/from-source/base-image'), work, { recursive: true });
  await runCommand('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work });
  const modules = join(work, 'node_modules');
  const local = join(root, 'usr/local');
  cpSync(join(modules, `node-linux-${process.arch}/bin/node`), join(local, 'bin/node'));
  cpSync(join(modules, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  }
}
