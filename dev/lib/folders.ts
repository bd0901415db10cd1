import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

export const isRoot = process.getuid?.() === 0;

export interface Folders {
  /** Contains every stack of this machine, and the Docker Engine they share. */
  root: string;
  data: string;
  logs: string;
  pids: string;
}

/**
 * Creates a stack's folders. Other users may traverse them, because Postgres runs as another user.
 */
export function foldersOf(stack: string): Folders {
  const root = rootFolder();
  const data = join(root, stack);
  const folders = { root, data, logs: join(data, 'logs'), pids: join(data, 'pids') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o755 });
  return folders;
}

export function rootFolder(): string {
  const configured = process.env.FLOWRUN_DATA;
  if (configured) return resolve(configured);
  return isRoot ? '/var/lib/flowrun' : join(homedir(), '.local/share/flowrun');
}

/** Contains built tools and the base image, which take long to make and belong to no stack. */
export function cacheFolder(): string {
  const folder = resolve(process.env.FLOWRUN_CACHE ?? join(homedir(), '.cache/flowrun'));
  mkdirSync(folder, { recursive: true });
  return folder;
}
