// The agent owns its working directory and may be working in it, so any name may become a link
// between two calls. So no path of more than one part is opened. Each folder is opened below its
// parent's descriptor (`/proc/self/fd/N/<part>`, without following links), and a file's type is
// read from its descriptor. `O_NONBLOCK` is needed because opening a pipe would wait for its other
// end, and four such waits block every file operation of this process.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const folderFlags =
  constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a folder, one part at a time. Null if it does not exist. */
export async function openFolder(root: string, parts: string[]): Promise<FileHandle | null> {
  let folder = await openRoot(root);
  for (const part of parts) {
    if (folder === null) return null;
    folder = await thenClose(folder, openFolderBelow(folder, part));
  }
  return folder;
}

/** Closes the folder once the operation in it has settled. */
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

/** The path of a name in an open folder, independent of the folder's own name. */
export const procFdPath = (folder: FileHandle, part: string): string =>
  `/proc/self/fd/${folder.fd}/${part}`;

/** Errors that the agent can cause give null. Errors of the host are thrown. */
async function openOrNull(path: string, flags: number): Promise<FileHandle | null> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Whether a call failed because the file is missing or has another type. */
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
