import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { limits } from '../../core/limits.ts';

/** An exclusive lock on a data folder, and the host ID that is stored in it. */
interface DataDirLock {
  hostId: string;
  /**
   * Identifies the machine since its boot, and the folder. A copy of the folder has another owner.
   */
  owner: string;
  /** False once the folder's lock file is another one, which another process may have locked. */
  isHeld(): boolean;
  release(): void;
}

export class DataDirLockedError extends Error {
  constructor(dataDir: string) {
    super(`another worker is using the data folder ${dataDir}: give each worker its own folder`);
    this.name = 'DataDirLockedError';
  }
}

/**
 * The lock belongs to a descriptor of this process. The kernel releases it when the process ends,
 * however it ends. The host ID is stored beside it, so that a restarted worker finds its own
 * sandboxes.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'lock');
  const descriptor = openSync(path, 'a', 0o600);
  try {
    lock(descriptor, dataDir);
    const { ino: inode } = fstatSync(descriptor);
    return {
      hostId: ensureHostId(dataDir),
      owner: ownerOf(dataDir),
      isHeld: () => statSync(path, { throwIfNoEntry: false })?.ino === inode,
      release: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Ends a process that was frozen while another one took the lock, before it interferes with its
 * successor.
 */
export function exitWhenLockLost(folder: DataDirLock, logger: Logger): void {
  const watch = setInterval(() => {
    if (folder.isHeld()) return;
    logger.fatal({ hostId: folder.hostId }, 'data_dir_lock_lost');
    process.exit(1);
  }, limits.host.dataDirLockCheckMs);
  watch.unref();
}

const taken = 1;

/** A lock belongs to an open file, not to a process. So `flock` locks our descriptor and exits. */
function lock(descriptor: number, dataDir: string): void {
  const { status, error } = spawnSync('flock', ['--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (status === 0) return;
  if (status === taken) throw new DataDirLockedError(dataDir);
  throw new Error(`the data folder ${dataDir} cannot be locked: is flock (util-linux) installed?`, {
    cause: error,
  });
}

/** The kernel generates a random boot ID when the machine starts. */
function ownerOf(dataDir: string): string {
  const machine = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const { dev, ino } = statSync(dataDir);
  return `${machine}/${dev}/${ino}`;
}

function ensureHostId(dataDir: string): string {
  const path = join(dataDir, 'host-id');
  const known = readIfThere(path)?.trim();
  if (known) return known;
  const made = `host-${randomUUID().slice(0, 8)}`;
  writeFileSync(`${path}.new`, `${made}\n`, { flush: true });
  renameSync(`${path}.new`, path);
  return made;
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
