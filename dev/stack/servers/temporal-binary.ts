// The `temporal` program comes from PATH, the cache, a build of the pinned Go module, or the
// vendor's release. The same build makes the production server and its schema tool.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireDiskSpace } from '../../lib/disk.ts';
import { cacheFolder, repository } from '../../lib/folders.ts';
import { hashOf } from '../../lib/hash.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { withFileLock } from '../lock.ts';

const temporalVersion = '1.8.2';

const moduleFolder = join(repository, 'dev/from-source/temporal');
const versionVariable = 'github.com/temporalio/cli/internal/temporalcli.Version';
const programs = [
  {
    name: 'temporal',
    from: 'github.com/temporalio/cli/cmd/temporal',
    flags: ` -X ${versionVariable}=${temporalVersion}`,
  },
  { name: 'temporal-server', from: 'go.temporal.io/server/cmd/server', flags: '' },
  { name: 'temporal-sql-tool', from: 'go.temporal.io/server/cmd/tools/sql', flags: '' },
];

export async function findTemporal(progress: (doing: string) => void): Promise<string> {
  return findOnPath('temporal') ?? (await temporalPrograms(progress)).cli;
}

/** Returns the paths of the programs. If they were downloaded and not built, only `cli` exists. */
export async function temporalPrograms(progress: (doing: string) => void) {
  const folder = join(
    cacheFolder(),
    `temporal-${hashOf(readFileSync(join(moduleFolder, 'go.sum')))}`,
  );
  if (!existsSync(folder)) {
    progress('waiting for another build');
    await withFileLock(join(cacheFolder(), 'temporal.lock'), async () => {
      if (!existsSync(folder)) await make(folder, progress);
    });
  }
  return {
    cli: join(folder, 'temporal'),
    server: join(folder, 'temporal-server'),
    sqlTool: join(folder, 'temporal-sql-tool'),
  };
}

/** Builds under another name and renames, so that the folder exists only if it is complete. */
async function make(folder: string, progress: (doing: string) => void): Promise<void> {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  const go = findOnPath('go', ['/usr/local/go/bin', '/usr/lib/go/bin']);
  const why = go === undefined ? 'Go is not installed' : await build(go, part, progress);
  if (why !== undefined) await download(part, why, progress);
  renameSync(part, folder);
}

/** Returns undefined, or why the build failed. */
async function build(
  go: string,
  folder: string,
  progress: (doing: string) => void,
): Promise<string | undefined> {
  requireDiskSpace(cacheFolder(), 'building Temporal');
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' };
  try {
    for (const { name, from, flags } of programs) {
      progress(`building ${name} (the first time takes minutes)`);
      const args = ['build', '-trimpath', '-ldflags', `-s -w${flags}`];
      await runCommand(go, [...args, '-o', join(folder, name), from], { cwd: moduleFolder, env });
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function download(
  folder: string,
  why: string,
  progress: (doing: string) => void,
): Promise<void> {
  const machine = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const release = `https://github.com/temporalio/cli/releases/download/v${temporalVersion}`;
  const archive = `temporal_cli_${temporalVersion}_linux_${machine}.tar.gz`;
  progress(`downloading ${archive}`);
  try {
    const script = `curl -fsSL --connect-timeout 15 "${release}/${archive}" | tar -xz -C "$0" temporal`;
    await runCommand('bash', ['-o', 'pipefail', '-c', script, folder]);
  } catch (error) {
    throw new SetupError(
      `Temporal can be neither built nor downloaded. Install Go 1.26.4 or newer, put \`temporal\` ` +
        `on PATH, or set TEMPORAL_ADDRESS.\nBuilding: ${why}\nDownloading: ${String(error)}`,
    );
  }
}
