// A working directory is its agent's, and the agent may still be at work in it: every name may turn
// into a link between two calls. So nothing is opened by a path of more than one part. Each folder is
// opened below the descriptor of the one above it (`/proc/self/fd/N/<part>`, never following a link),
// and what a file is, is asked of its descriptor. `O_NONBLOCK`, because opening a pipe would wait for
// its other end, and four such waits stop every file operation of this process.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const folderFlags =
  constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Down from the root, one part at a time; null where there is no such folder. */
export async function openFolder(root: string, context: string[]): Promise<FileHandle | null> {
  let folder = await openRoot(root);
  for (const part of context) {
    if (folder === null) return null;
    folder = await thenClose(folder, openFolderBelow(folder, part));
  }
  return folder;
}

/** The folder is closed whatever becomes of what is sought in it. */
export async function thenClose<T>(folder: FileHandle, sought: Promise<T>): Promise<T> {
  try {
    return await sought;
  } finally {
    await folder.close();
  }
}

export const openRoot = (root: string): Promise<FileHandle | null> => openOrNull(root, folderFlags);

export const openFolderBelow = (folder: FileHandle, part: string): Promise<FileHandle | null> =>
  openOrNull(procFdPath(folder, part), folderFlags);

export const openFileBelow = (folder: FileHandle, part: string): Promise<FileHandle | null> =>
  openOrNull(procFdPath(folder, part), fileFlags);

/** A name in an open folder, whatever has become of the folder's own name. */
export const procFdPath = (folder: FileHandle, part: string): string =>
  `/proc/self/fd/${folder.fd}/${part}`;

/** What the agent may have done meanwhile is no error; what this host lacks is one. */
async function openOrNull(path: string, flags: number): Promise<FileHandle | null> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Whether a call failed for what lies there, or lies there no more. */
export function isNotFound(error: unknown): boolean {
  return notFoundCodes.has((error as NodeJS.ErrnoException).code ?? '');
}

const notFoundCodes = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENXIO',
  'ENODEV',
  'EACCES',
  'ENAMETOOLONG',
]);
