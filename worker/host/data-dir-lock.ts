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

/** A data folder and the identity that lives in it; while it is held, no other worker has it. */
export interface DataDirLock {
  hostId: string;
  /** False once the lock that this process holds is no longer the folder's: another may have that. */
  isHeld(): boolean;
  release(): void;
}

export class DataDirLockedError extends Error {
  constructor(dataDir: string) {
    super(
      `another worker is using the data folder ${dataDir}: give each worker a folder of its own`,
    );
    this.name = 'DataDirLockedError';
  }
}

/**
 * The lock belongs to a descriptor of this process: it goes when the process does, however it dies,
 * and is free in the same moment. The host's id lies beside it, so that a worker which is started
 * again finds its own sandboxes.
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
      isHeld: () => statSync(path, { throwIfNoEntry: false })?.ino === inode,
      release: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

const taken = 1;

/** Locks are held by an open file, not by a process: the tool locks ours and leaves. */
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
