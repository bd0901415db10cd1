// Restores a working directory from a snapshot. Every entry is created below a descriptor
// (staged-entry.ts). Links are created last and never followed. A folder's time is set after its
// last entry was created.

import { lchown, link, lutimes, symlink } from 'node:fs/promises';
import type {
  FileEntry,
  FolderEntry,
  LinkEntry,
  WorkspaceTree,
} from '../../../core/files/file-entry.ts';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { openFolder, procFdPath } from './safe-open.ts';
import { cleanUp, commitEntry, makeFolder, type StagedEntry, stageEntry } from './staged-entry.ts';
import { notAFolder, pathTaken, rejected, type Written } from './write-files.ts';
import { writeStoredFiles } from './write-stored-files.ts';

/** Safe to repeat. Stops at the first entry that cannot be created. */
export async function writeTree(
  blobs: Pick<BlobStore, 'read' | 'readSmall'>,
  root: string,
  { files, links, folders }: WorkspaceTree,
): Promise<Written> {
  const { firstNames, furtherNames } = groupNames(files);
  return inOrder([
    () => each(folders, (folder) => writeFolder(root, folder)),
    () => writeStoredFiles(blobs, root, firstNames),
    () => each(furtherNames, (name) => writeName(root, name)),
    () => each(links, (entry) => writeLink(root, entry)),
    () => each(folders, (folder) => setAttributes(root, folder)),
  ]);
}

interface FurtherName {
  path: string;
  /** Another name of the same file. */
  first: string;
}

function groupNames(files: FileEntry[]): {
  firstNames: FileEntry[];
  furtherNames: FurtherName[];
} {
  const firstNames: FileEntry[] = [];
  const furtherNames: FurtherName[] = [];
  const known = new Map<number, FileEntry>();
  for (const file of files) {
    const { path, linkGroup = null } = file;
    const first = linkGroup === null ? undefined : known.get(linkGroup);
    if (first?.sha256 === file.sha256) {
      furtherNames.push({ path, first: first.path });
      continue;
    }
    firstNames.push(file);
    if (linkGroup !== null) known.set(linkGroup, file);
  }
  return { firstNames, furtherNames };
}

async function inOrder(steps: (() => Promise<Written>)[]): Promise<Written> {
  for (const step of steps) {
    const written = await step();
    if (written.outcome === 'rejected') return written;
  }
  return { outcome: 'written' };
}

const each = <E>(entries: E[], write: (entry: E) => Promise<Written>): Promise<Written> =>
  inOrder(entries.map((entry) => () => write(entry)));

async function writeFolder(root: string, { path }: FolderEntry): Promise<Written> {
  const folder = await makeFolder(root, path.split('/'));
  await folder?.close();
  return folder === null ? rejected({ path }, notAFolder) : { outcome: 'written' };
}

async function setAttributes(
  root: string,
  { path, mode, modifiedAt }: FolderEntry,
): Promise<Written> {
  const folder = await openFolder(root, path.split('/'));
  if (folder === null) return rejected({ path }, notAFolder);
  try {
    await folder.chmod(mode);
    await folder.utimes(modifiedAt, modifiedAt);
    return { outcome: 'written' };
  } finally {
    await folder.close();
  }
}

async function writeName(root: string, { path, first }: FurtherName): Promise<Written> {
  const parts = first.split('/');
  const folder = await openFolder(root, parts.slice(0, -1));
  if (folder === null) return rejected({ path }, notAFolder);
  try {
    const source = procFdPath(folder, parts.at(-1) ?? '');
    return await writeEntry(root, path, ({ part }) => link(source, part));
  } finally {
    await folder.close();
  }
}

function writeLink(root: string, { path, target, modifiedAt }: LinkEntry): Promise<Written> {
  return writeEntry(root, path, async ({ part }) => {
    await symlink(target, part);
    await lchown(part, sandboxPaths.uid, sandboxPaths.gid);
    await lutimes(part, modifiedAt, modifiedAt);
  });
}

async function writeEntry(
  root: string,
  path: string,
  make: (staged: StagedEntry) => Promise<void>,
): Promise<Written> {
  const staged = await stageEntry(root, path);
  if (staged === null) return rejected({ path }, notAFolder);
  try {
    await make(staged);
    return (await commitEntry(staged)) ? { outcome: 'written' } : rejected({ path }, pathTaken);
  } finally {
    await cleanUp(staged);
  }
}
