import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { rootFolder } from '../lib/folders.ts';
import { SetupError } from '../lib/setup-error.ts';

interface Lock {
  release(): Promise<void>;
}

const lockTakenCode = 99;

/**
 * Locks a file by a small process that ends with this one, even if this one is killed.
 * Returns undefined if the file is locked and `wait` is false.
 */
export async function acquireLock(file: string, { wait = false } = {}): Promise<Lock | undefined> {
  const flags = wait ? [] : ['-n', '-E', String(lockTakenCode)];
  const child = spawn('flock', [...flags, file, 'sh', '-c', 'echo locked; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child.stdout, 'data').then(() => 'locked'), exited]);
  if (first !== 'locked') {
    if (first[0] === lockTakenCode) return undefined;
    throw new Error(`cannot lock ${file}: flock ended with ${String(first[0])}`);
  }
  child.unref();
  return {
    async release() {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
}

/** Runs the work under a file lock. Other holders of the lock are waited for. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(file, { wait: true });
  try {
    return await work();
  } finally {
    await lock?.release();
  }
}

/** Runs the work while no other command uses the stack. Throws at once if another command does. */
export async function withStackLock<T>(stack: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(rootFolder(), { recursive: true });
  const file = stackLockFile(stack);
  const lock = await acquireLock(file);
  if (lock === undefined) {
    throw new SetupError(`Another command is using the ${stack} stack (${file} is locked).`);
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

export async function isStackLocked(stack: string): Promise<boolean> {
  const lock = await acquireLock(stackLockFile(stack));
  await lock?.release();
  return lock === undefined;
}

function stackLockFile(stack: string): string {
  return join(rootFolder(), `${stack}.lock`);
}
