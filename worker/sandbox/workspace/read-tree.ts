import { isUtf8 } from 'node:buffer';
import { lstat, readlink } from 'node:fs/promises';
import type { LinkEntry, Snapshot, WorkspaceTree } from '../../../core/files/file-entry.ts';
import { checkFilePath } from '../../../core/files/file-path.ts';
import { limits } from '../../../core/limits.ts';
import { hasSpecialBits, modeOf, modifiedAtOf } from './entry-attributes.ts';
import type { HashPass } from './hash-cache.ts';
import { createFileHasher } from './hash-file.ts';
import { isNotFound, openFolder, procFdPath } from './safe-open.ts';
import type { SkippedList } from './skipped-entries.ts';
import { type Found, walkWorkspace } from './walk.ts';

const maxDepth = 64;
const maxEntries = 500_000;
const linkTargetMaxBytes = 1_024;
const specialBits = 'stored without its setuid, setgid or sticky bit';

export const walkOptions = { maxDepth, maxEntries, heavy: 'last' } as const;

interface ReadTreeOptions {
  maxFiles: number;
  skipped: SkippedList;
  hashes: HashPass | null;
  signal?: AbortSignal | undefined;
}

type Add<K extends Found['kind']> = (found: Extract<Found, { kind: K }>) => Promise<unknown>;

/**
 * Reads a directory up to the limits. At most `maxFiles` files and links are read, and as many
 * folders. Entries that are not stored are added to the skipped ones.
 */
export async function readTree(
  root: string,
  { maxFiles, skipped, hashes, signal }: ReadTreeOptions,
): Promise<Snapshot> {
  const tree: Snapshot = { files: [], links: [], folders: [], changed: [] };
  const { maxBytes } = limits.snapshot;
  const hashFile = createFileHasher(root, { maxBytes, hashes });

  const addFile: Add<'file'> = async ({ path }) => {
    const hashed = await hashFile(path);
    if (hashed.outcome === 'too_large') skipped.add(path, 'over the size limit');
    if (hashed.outcome === 'changed') tree.changed.push(path);
    if (hashed.outcome !== 'hashed') return;
    if (hashed.hasLostBits) skipped.add(path, specialBits);
    tree.files.push(hashed.entry);
  };
  const addLink: Add<'link'> = async ({ path }) => {
    const link = await readLink(root, path);
    if (link === null) return;
    if (typeof link === 'string') return skipped.add(path, link);
    tree.links.push(link);
  };
  const addFolder: Add<'folder'> = async ({ path, stats }) => {
    if (hasSpecialBits(stats)) skipped.add(path, specialBits);
    tree.folders.push({ path, mode: modeOf(stats), modifiedAt: modifiedAtOf(stats) });
  };

  for await (const found of walkWorkspace(root, { ...walkOptions, signal })) {
    const reason = skipReason(found, tree, maxFiles);
    if (reason !== null) skipped.add(found.path, reason);
    else if (found.kind === 'file') await addFile(found);
    else if (found.kind === 'link') await addLink(found);
    else if (found.kind === 'folder') await addFolder(found);
  }
  return tree;
}

function skipReason(
  found: Found,
  { files, links, folders }: WorkspaceTree,
  maxFiles: number,
): string | null {
  if (found.kind === 'other') return found.reason;
  if (found.kind === 'folder') {
    if (folders.length >= maxFiles) return 'over the folder limit';
  } else if (files.length + links.length >= maxFiles) return 'over the file limit';
  const check = checkFilePath(found.path);
  return check.ok ? null : `its path ${check.reason}`;
}

/** A string is the reason why the link is not stored. Null if it is gone. */
async function readLink(root: string, path: string): Promise<LinkEntry | string | null> {
  const parts = path.split('/');
  const folder = await openFolder(root, parts.slice(0, -1));
  if (folder === null) return null;
  try {
    const name = procFdPath(folder, parts.at(-1) ?? '');
    const modifiedAt = modifiedAtOf(await lstat(name));
    const target = await readlink(name, { encoding: 'buffer' });
    if (target.length > linkTargetMaxBytes) {
      return `its target is longer than ${linkTargetMaxBytes} bytes`;
    }
    if (!isUtf8(target)) return 'its target is not UTF-8';
    return { path, target: target.toString('utf8'), modifiedAt };
  } catch (error) {
    const isNoLink = (error as NodeJS.ErrnoException).code === 'EINVAL';
    if (isNoLink || isNotFound(error)) return null;
    throw error;
  } finally {
    await folder.close();
  }
}
