// Writes to a working directory that an agent may be changing at the same time: see
// staged-entry.ts. All files are written before the first is renamed, so that a conflict is found
// before any file is in place.

import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import { procFdPath } from './safe-open.ts';
import { cleanUp, commitEntry, type StagedEntry, stageEntry } from './staged-entry.ts';

interface NewFile {
  /** Relative, and checked. */
  path: string;
  mode: number;
  /** Default: now. */
  modifiedAt?: Date;
}

export interface UnwritableFile {
  path: string;
  reason: string;
}

export type Written = { outcome: 'written' } | ({ outcome: 'rejected' } & UnwritableFile);

/**
 * Safe to repeat. Allows one call at a time per directory, with at most a few hundred files,
 * because each file keeps its folder open.
 */
export async function writeFiles<F extends NewFile>(
  root: string,
  files: F[],
  contentOf: (file: F) => AsyncIterable<Buffer>,
): Promise<Written> {
  const staged: StagedEntry[] = [];
  try {
    for (const file of files) {
      const one = await stageEntry(root, file.path);
      if (one === null) return rejected(file, notAFolder);
      staged.push(one);
      if (await isFolder(one)) return rejected(file, 'a folder has this name');
      await writePart(one, file, contentOf(file));
    }
    for (const [index, file] of files.entries()) {
      const one = staged[index];
      if (one !== undefined && !(await commitEntry(one))) return rejected(file, pathTaken);
    }
    return { outcome: 'written' };
  } finally {
    for (const one of staged) await cleanUp(one);
  }
}

export const notAFolder = 'a part of its path is not a folder';
export const pathTaken = 'its path is taken';

export const rejected = ({ path }: { path: string }, reason: string): Written => ({
  outcome: 'rejected',
  path,
  reason,
});

async function isFolder({ folder, name }: StagedEntry): Promise<boolean> {
  const stats = await lstat(procFdPath(folder, name)).catch(() => null);
  return stats?.isDirectory() ?? false;
}

async function writePart(
  { part }: StagedEntry,
  { mode, modifiedAt }: NewFile,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.chown(sandboxPaths.uid, sandboxPaths.gid);
    await file.chmod(mode);
    if (modifiedAt !== undefined) await file.utimes(modifiedAt, modifiedAt);
  } finally {
    await file.close();
  }
}
