import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { sandboxPaths } from '../../core/sandbox/sandbox-config.ts';
import type { RunFolders } from '../../systems/docker/confinement/mounts.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';

/** The paths of a sandbox's files on this host. */
export interface SandboxFolders extends RunFolders {
  /** Contains the others. Only root can access it, and it is not mounted into the sandbox. */
  root: string;
  spoolFile: string;
  stderrFile: string;
  socketFile: string;
}

/**
 * All generations of a run share one socket path. It is short, because Node truncates long ones.
 */
export function foldersOf(dataDir: string, { runId, generation }: SandboxRef): SandboxFolders {
  const short = runId.replaceAll('-', '').slice(0, 12);
  const root = join(dataDir, 'r', `${short}-${generation}`);
  const spool = join(root, 'spool');
  const socket = join(dataDir, 's', short);
  return {
    root,
    workspace: join(root, 'workspace'),
    config: join(root, 'config'),
    spool,
    spoolFile: join(spool, basename(sandboxPaths.spoolFile)),
    stderrFile: join(spool, basename(sandboxPaths.stderrFile)),
    socket,
    socketFile: join(socket, basename(sandboxPaths.socket)),
  };
}

const { uid, gid } = sandboxPaths;

/**
 * Safe to repeat, even while the sandbox runs. The agent owns its files, but not the folders of its
 * spool and its socket. So it can neither replace nor remove those two. Files belong to the quota
 * of their folder if it is assigned before they are created.
 */
export async function makeFolders(
  folders: SandboxFolders,
  assignQuota: () => Promise<void>,
): Promise<void> {
  for (const parent of [dirname(folders.root), dirname(folders.socket), folders.root]) {
    await mkdir(parent, { recursive: true, mode: 0o700 });
  }
  await makeFolder(folders.spool, { mode: 0o755, owned: false });
  await makeFolder(folders.socket, { mode: 0o755, owned: false });
  await makeFolder(folders.workspace, { mode: 0o755, owned: true });
  await makeFolder(folders.config, { mode: 0o700, owned: true });
  if ((await stat(folders.spoolFile).catch(() => null)) === null) await assignQuota();
  await makeFile(folders.spoolFile);
  await makeFile(folders.stderrFile);
}

/** The agent may have created any depth. `rm` walks by descriptor and stays on one file system. */
export async function removeTree(path: string): Promise<void> {
  await promisify(execFile)('rm', ['-rf', '--one-file-system', '--', path]);
}

async function makeFolder(
  path: string,
  { mode, owned }: { mode: number; owned: boolean },
): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  if (owned) await chown(path, uid, gid);
}

async function makeFile(path: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    await file.chown(uid, gid);
  } finally {
    await file.close();
  }
}
