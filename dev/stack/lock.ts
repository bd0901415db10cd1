import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { rootFolder } from '../lib/folders.ts';
import { SetupError } from '../lib/setup-error.ts';

export interface Lock {
  release(): Promise<void>;
}

const lockTakenCode = 99;

/**
 * Holds a file's lock by a small process that ends when this one does, however it ends.
 * Undefined when somebody else holds it and `wait` is not asked for.
 */
export async function acquireLock(file: string, { wait = false } = {}): Promise<Lock | undefined> {
  const how = wait ? [] : ['-n', '-E', String(lockTakenCode)];
  const child = spawn('flock', [...how, file, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child.stdout, 'data').then(() => 'held'), exited]);
  if (first !== 'held') {
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

/** Does the work alone; whoever else wants the same lock waits. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(file, { wait: true });
  try {
    return await work();
  } finally {
    await lock?.release();
  }
}

/** Nobody else brings up, ends or tests this stack meanwhile; two at once refuse, they do not wait. */
export async function withStackLock<T>(stack: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(rootFolder(), { recursive: true });
  const file = stackLockFile(stack);
  const lock = await acquireLock(file);
  if (lock === undefined) {
    throw new SetupError(`Another command is at work on the ${stack} stack (${file} is locked).`);
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
