// Writes into a working directory whose agent may be at work in it. Every file is written under a
// name of its own in an open folder and renamed there: a link of the agent's making is replaced, never
// followed, and nobody reads half a file. All are written before the first is renamed, so that what
// stands in the way of one is known before any is in its place.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { sandboxPaths } from '../../../core/sandbox/sandbox.ts';
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

export type Written = { outcome: 'written' } | ({ outcome: 'refused' } & UnwritableFile);

/**
 * Safe to repeat, one at a time for a directory; for at most a few hundred at a time, since each
 * holds its folder open.
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
      if (folder === null) return refused(file, 'a part of its path is no folder');
      const one = { folder, name: nameOf(file), part: partOf(nameOf(file)) };
      staged.push(one);
      if (await isFolder(one)) return refused(file, 'a folder has this name');
      await writePart(one, file, contentOf(file));
    }
    for (const [index, file] of files.entries()) {
      const one = staged[index];
      if (one !== undefined && !(await commitFile(one))) return refused(file, 'its place is taken');
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

/** The same for the same name, so that what a process left when it died is found by the next. */
const partOf = (name: string): string =>
  `.frs-${createHash('sha256').update(name).digest('hex').slice(0, 24)}.part`;

/** A file that is on its way: it has no place yet, and may be half of itself. */
export const isPart = (name: string): boolean => /^\.frs-[0-9a-f]{24}\.part$/.test(name);

const nameOf = ({ path }: NewFile): string => path.slice(path.lastIndexOf('/') + 1);

const refused = ({ path }: NewFile, reason: string): Written => ({
  outcome: 'refused',
  path,
  reason,
});

/** Down from the root, making what is missing; null where something else stands in the way. */
async function makeFolder(root: string, context: string[]): Promise<FileHandle | null> {
  let folder = await openRoot(root);
  if (folder === null) throw new Error('the working directory is gone');
  for (const part of context) {
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
  // Whatever has that name by now lies inside, and is the agent's in any case.
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

/** Nothing of it is left under the name that it was written by. */
async function cleanUp({ folder, part }: Staged): Promise<void> {
  await unlink(procFdPath(folder, part)).catch(() => undefined);
  await folder.close();
}
