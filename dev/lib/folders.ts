import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

export const isRoot = process.getuid?.() === 0;

export interface Folders {
  /** Holds every stack of this machine, and the engine they share. */
  root: string;
  data: string;
  logs: string;
  pids: string;
}

/** A stack's folders, made. The way down to them is open: Postgres runs as another user. */
export function foldersOf(stack: string): Folders {
  const root = rootFolder();
  const data = join(root, stack);
  const folders = { root, data, logs: join(data, 'logs'), pids: join(data, 'pids') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o755 });
  return folders;
}

export function rootFolder(): string {
  const given = process.env.FLOWRUN_DATA;
  if (given) return resolve(given);
  return isRoot ? '/var/lib/flowrun' : join(homedir(), '.local/share/flowrun');
}

/** What is slow to make and belongs to no stack: built tools, the base image. */
export function cacheFolder(): string {
  const folder = resolve(process.env.FLOWRUN_CACHE ?? join(homedir(), '.cache/flowrun'));
  mkdirSync(folder, { recursive: true });
  return folder;
}
