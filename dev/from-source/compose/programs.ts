// Builds `docker compose`, the Temporal UI, Caddy and a newer Docker Engine from source, for
// machines without a registry of images or binaries.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../../lib/apt.ts';
import { requireDiskSpace } from '../../lib/disk.ts';
import { cacheFolder, repository } from '../../lib/folders.ts';
import { hashOf } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';

const composeVersion = '2.40.3';
const versionVariable = 'github.com/docker/compose/v2/internal.Version';

interface Program {
  name: string;
  from: string;
  flags?: string;
  env?: Record<string, string>;
  /** A file that the build needs, and the packages that contain it. */
  needs?: { file: string; packages: string[] };
}

/** Returns the configuration folder in which the docker command line finds the plug-in. */
export function ensureComposePlugin(): Promise<string> {
  return ensurePrograms('docker compose', 'plugin', [
    {
      name: 'cli-plugins/docker-compose',
      from: 'github.com/docker/compose/v2/cmd',
      flags: ` -X ${versionVariable}=${composeVersion}`,
    },
  ]);
}

export async function ensureTemporalUi(): Promise<string> {
  const program = { name: 'ui-server', from: 'github.com/temporalio/ui-server/v2/cmd/server' };
  return join(await ensurePrograms('temporal ui', 'temporal-ui', [program]), program.name);
}

export async function ensureCaddy(): Promise<string> {
  const program = { name: 'caddy', from: 'github.com/caddyserver/caddy/v2/cmd/caddy' };
  return join(await ensurePrograms('caddy', 'caddy', [program]), program.name);
}

/**
 * Returns the folder of a Docker Engine newer than Debian's, which can mount folders of a volume.
 */
export function ensureNewerEngine(): Promise<string> {
  return ensurePrograms('newer engine', 'engine', [
    { name: 'dockerd', from: 'github.com/moby/moby/v2/cmd/dockerd' },
    { name: 'docker-proxy', from: 'github.com/moby/moby/v2/cmd/docker-proxy' },
    { name: 'containerd', from: 'github.com/containerd/containerd/v2/cmd/containerd' },
    {
      name: 'containerd-shim-runc-v2',
      from: 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
    },
    {
      name: 'runc',
      from: 'github.com/opencontainers/runc',
      env: { CGO_ENABLED: '1', GOFLAGS: '-mod=readonly -tags=seccomp' },
      needs: {
        file: '/usr/include/seccomp.h',
        packages: ['gcc', 'libc6-dev', 'pkg-config', 'libseccomp-dev'],
      },
    },
  ]);
}

/**
 * Returns a folder with the programs of a Go module beside this file. Builds them if it is missing.
 */
function ensurePrograms(title: string, module: string, programs: Program[]): Promise<string> {
  return step(title, async (progress) => {
    const home = join(repository, 'dev/from-source/compose', module);
    const key = hashOf(readFileSync(join(home, 'go.sum')), JSON.stringify(programs));
    const folder = join(cacheFolder(), `${module}-${key}`);
    if (existsSync(folder)) return { value: folder, summary: 'cached' };
    const go = findOnPath('go', ['/usr/local/go/bin', '/usr/lib/go/bin']);
    if (go === undefined) throw new SetupError(`Go is needed to build ${title}.`);
    requireDiskSpace(cacheFolder(), `building ${title}`);
    progress('building (takes minutes the first time)');
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part);
    for (const { name, from, flags = '', env = {}, needs } of programs) {
      if (needs && !existsSync(needs.file)) await installPackages(needs.packages, progress);
      const flagsOfAll = ['-trimpath', '-ldflags', `-s -w${flags}`];
      await runCommand(go, ['build', ...flagsOfAll, '-o', join(part, name), from], {
        cwd: home,
        env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', ...env },
      });
    }
    renameSync(part, folder);
    return { value: folder, summary: 'built' };
  });
}
