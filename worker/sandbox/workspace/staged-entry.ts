// A new entry of a working directory that an agent may be changing at the same time. The entry is
// created under a temporary name in an open folder and then renamed. So a link that the agent
// creates is replaced, never followed, and the agent never reads a partial file.

import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, rename, unlink } from 'node:fs/promises';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import { isNotFound, openFolderBelow, openRoot, procFdPath, thenClose } from './safe-open.ts';

export interface StagedEntry {
  /** Open until `cleanUp`. */
  folder: FileHandle;
  name: string;
  /** The path of the temporary name. No entry has this name yet. */
  part: string;
}

/** Creates the folders above the entry. Null if a part of its path is not a folder. */
export async function stageEntry(root: string, path: string): Promise<StagedEntry | null> {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const folder = await makeFolder(root, parts.slice(0, -1));
  if (folder === null) return null;
  const part = procFdPath(folder, partOf(name));
  await unlink(part).catch(() => undefined);
  return { folder, name, part };
}

/** Derived from the name, so that the next process replaces the partial entry of a crashed one. */
const partOf = (name: string): string =>
  `.frs-${createHash('sha256').update(name).digest('hex').slice(0, 24)}.part`;

/** Whether this is the temporary name of an entry that may be incomplete. */
export const isPart = (name: string): boolean => /^\.frs-[0-9a-f]{24}\.part$/.test(name);

/** Creates missing folders. Null if a part of the path is not a folder. */
export async function makeFolder(root: string, parts: string[]): Promise<FileHandle | null> {
  let folder = await openRoot(root);
  if (folder === null) throw new Error('the working directory is missing');
  for (const part of parts) {
    const next: FileHandle | null = await thenClose(folder, openOrMakeBelow(folder, part));
    if (next === null) return null;
    folder = next;
  }
  return folder;
}

async function openOrMakeBelow(folder: FileHandle, part: string): Promise<FileHandle | null> {
  const there = await openFolderBelow(folder, part);
  if (there !== null) return there;
  try {
    await mkdir(procFdPath(folder, part), 0o755);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && !isNotFound(error)) throw error;
  }
  const made = await openFolderBelow(folder, part);
  // Any folder of that name is inside the working directory, and belongs to the agent.
  await made?.chown(sandboxPaths.uid, sandboxPaths.gid);
  return made;
}

/** False if the name belongs to a folder, or the entry is gone. */
export async function commitEntry({ folder, part, name }: StagedEntry): Promise<boolean> {
  try {
    await rename(part, procFdPath(folder, name));
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (isNotFound(error) || ['EISDIR', 'EEXIST', 'ENOTEMPTY'].includes(code)) return false;
    throw error;
  }
}

/** Removes the temporary name if it was not renamed. */
export async function cleanUp({ folder, part }: StagedEntry): Promise<void> {
  await unlink(part).catch(() => undefined);
  await folder.close();
}
