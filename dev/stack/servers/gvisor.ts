// gVisor's program from the cache, from a build of the pinned Go module, or as installed. It is
// tried before an engine registers it, because an engine with a broken runtime starts no sandbox.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireDiskSpace } from '../../lib/disk.ts';
import { cacheFolder, isRoot, repository } from '../../lib/folders.ts';
import { hashOf } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import type { RuntimeEntry } from '../engine-api.ts';
import { withFileLock } from '../lock.ts';

/** The name of the runtime in engines. */
export const gvisorName = 'runsc';

const moduleFolder = join(repository, 'dev/from-source/gvisor');
/** Without it the program reports no version, and measurements do not say what they measured. */
const versionVariable = 'gvisor.dev/gvisor/runsc/version.version';
const trialTimeoutMs = 60_000;

/**
 * Sandboxes reach the network by a unix socket of the host, which gVisor opens only with this flag.
 */
export const gvisorEntry = (path: string): RuntimeEntry => ({
  path,
  runtimeArgs: ['--host-uds=open'],
});

/** Returns the path of a program that works on this machine. */
export function ensureGvisor(): Promise<string> {
  return step('gVisor', async (progress) => {
    if (process.platform !== 'linux') throw new SetupError('gVisor requires Linux.');
    const program = await find(progress);
    progress('testing');
    await tryGvisor(program);
    return { value: program, summary: program };
  });
}

/** Returns the path of an existing program, untested. Builds nothing. */
export function findGvisor(): string | undefined {
  const { program } = gvisorBuild();
  return existsSync(program) ? program : findInstalled();
}

const findInstalled = () => findOnPath(gvisorName, ['/usr/local/bin', '/usr/local/sbin']);

interface GvisorBuild {
  /** Its name depends on the module's sums and on the flags, so a changed build is made again. */
  folder: string;
  program: string;
  /** Builds under another name, so that the folder exists only if it is complete. */
  part: string;
  args: string[];
}

/** The build of the pinned module. */
export function gvisorBuild(): GvisorBuild {
  const linkerFlags = `-s -w -X ${versionVariable}=${required(/gvisor\.dev\/gvisor (v\S+)/)}`;
  const sums = readFileSync(join(moduleFolder, 'go.sum'));
  const folder = join(cacheFolder(), `gvisor-${hashOf(sums, linkerFlags)}`);
  const part = `${folder}.part`;
  const options = ['-trimpath', '-ldflags', linkerFlags, '-o', join(part, gvisorName)];
  const args = ['build', ...options, 'gvisor.dev/gvisor/runsc'];
  return { folder, program: join(folder, gvisorName), part, args };
}

async function find(progress: (doing: string) => void): Promise<string> {
  const planned = gvisorBuild();
  const { program } = planned;
  if (existsSync(program)) return program;
  const go = findOnPath('go', ['/usr/local/go/bin', '/usr/lib/go/bin']);
  if (go === undefined) return installedInstead('Go is not installed');
  progress('waiting for another build');
  return withFileLock(join(cacheFolder(), 'gvisor.lock'), async () => {
    if (existsSync(program)) return program;
    try {
      await build(go, planned, progress);
      return program;
    } catch (error) {
      if (error instanceof SetupError) throw error;
      return installedInstead(error instanceof Error ? error.message : String(error));
    }
  });
}

async function build(
  go: string,
  { folder, part, args }: GvisorBuild,
  progress: (doing: string) => void,
): Promise<void> {
  requireDiskSpace(cacheFolder(), 'building gVisor');
  progress('building gVisor (the first time takes minutes)');
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' };
  await runCommand(go, args, { cwd: moduleFolder, env });
  renameSync(part, folder);
}

function installedInstead(why: string): string {
  const installed = findInstalled();
  if (installed !== undefined) return installed;
  throw new SetupError(
    `gVisor can be neither built nor found. Install Go ${required(/^go (\S+)$/m)} or newer, or put its program ` +
      `\`${gvisorName}\` on PATH (https://gvisor.dev/docs/user_guide/install).\nBuilding: ${why}`,
  );
}

/** What the pinned module's file requires. */
function required(pattern: RegExp): string {
  return pattern.exec(readFileSync(join(moduleFolder, 'go.mod'), 'utf8'))?.[1] ?? '';
}

/** Does nothing without root, which the test needs. */
export async function tryGvisor(program: string): Promise<void> {
  if (!isRoot) return;
  const args = ['--network=none', '--ignore-cgroups', 'do', 'true'];
  try {
    await runCommand(program, args, { timeoutMs: trialTimeoutMs });
  } catch (error) {
    throw new SetupError(
      `gVisor cannot run on this machine; sandboxes stay on runc (SANDBOX_RUNTIME=runc).\n${String(error)}`,
    );
  }
}
