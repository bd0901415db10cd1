// Writes to a working directory whose agent may be working in it. Each file is written under a temporary
// name in an open folder and then renamed. So a link that the agent creates is replaced, never followed,
// and a partial file is never read. All files are written before the first is renamed, so that a conflict
// is found before any file is in place.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import { isNotFound, openFolderBelow, openRoot, procFdPath, thenClose } from './safe-open.ts';

interface NewFile {
  /** Relative, and checked. */
  path: string;
  mode: number;
}

export interface UnwritableFile {
  path: string;
  reason: string;
}

export type Written = { outcome: 'written' } | ({ outcome: 'rejected' } & UnwritableFile);

/**
 * Safe to repeat. Allows one call at a time per directory, with at most a few hundred files, because each
 * file keeps its folder open.
 */
export async function writeFiles<F extends NewFile>(
  root: string,
  files: F[],
  contentOf: (file: F) => AsyncIterable<Buffer>,
): Promise<Written> {
  const staged: Staged[] = [];
  try {
    for (const file of files) {
      const folder = await makeFolder(root, file.path.split('/').slice(0, -1));
      if (folder === null) return rejected(file, 'a part of its path is not a folder');
      const one = { folder, name: nameOf(file), part: partOf(nameOf(file)) };
      staged.push(one);
      if (await isFolder(one)) return rejected(file, 'a folder has this name');
      await writePart(one, file, contentOf(file));
    }
    for (const [index, file] of files.entries()) {
      const one = staged[index];
      if (one !== undefined && !(await commitFile(one))) return rejected(file, 'its path is taken');
    }
    return { outcome: 'written' };
  } finally {
    for (const one of staged) await cleanUp(one);
  }
}

interface Staged {
  folder: FileHandle;
  name: string;
  part: string;
}

/** Derived from the name, so that the next process finds what a crashed one left. */
const partOf = (name: string): string =>
  `.frs-${createHash('sha256').update(name).digest('hex').slice(0, 24)}.part`;

/** Whether this is the temporary name of a file that may be incomplete. */
export const isPart = (name: string): boolean => /^\.frs-[0-9a-f]{24}\.part$/.test(name);

const nameOf = ({ path }: NewFile): string => path.slice(path.lastIndexOf('/') + 1);

const rejected = ({ path }: NewFile, reason: string): Written => ({
  outcome: 'rejected',
  path,
  reason,
});

/** Creates missing folders. Null if a part of the path is not a folder. */
async function makeFolder(root: string, parts: string[]): Promise<FileHandle | null> {
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

async function isFolder({ folder, name }: Staged): Promise<boolean> {
  const stats = await lstat(procFdPath(folder, name)).catch(() => null);
  return stats?.isDirectory() ?? false;
}

async function writePart(
  { folder, part }: Staged,
  { mode }: NewFile,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  await unlink(procFdPath(folder, part)).catch(() => undefined);
  const file = await open(
    procFdPath(folder, part),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    0o600,
  );
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.chown(sandboxPaths.uid, sandboxPaths.gid);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

async function commitFile({ folder, part, name }: Staged): Promise<boolean> {
  try {
    await rename(procFdPath(folder, part), procFdPath(folder, name));
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (isNotFound(error) || ['EISDIR', 'EEXIST', 'ENOTEMPTY'].includes(code)) return false;
    throw error;
  }
}

/** Removes the temporary file if it was not renamed. */
async function cleanUp({ folder, part }: Staged): Promise<void> {
  await unlink(procFdPath(folder, part)).catch(() => undefined);
  await folder.close();
}
