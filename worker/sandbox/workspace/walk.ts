// Everything is opened by descriptor: see safe-open.ts.

import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { type FileHandle, opendir } from 'node:fs/promises';
import { openFileBelow, openFolder } from './safe-open.ts';
import { isPart } from './write-files.ts';

export type Found =
  | { kind: 'file'; path: string }
  /** A folder that is not entered, a link, a pipe, or a name that is not UTF-8. */
  | { kind: 'other'; path: string; reason: string };

interface WalkOptions {
  maxDepth: number;
  /** Whether heavy folders (.git, node_modules) are entered last or never. */
  heavy: 'last' | 'never';
  /** The walk ends after this many entries. */
  maxEntries: number;
  signal?: AbortSignal;
}

const heavyNames = new Set(['.git', 'node_modules']);

/**
 * Walks breadth first, so that entries near the top come first. Skips entries that vanish and files that
 * are being written.
 */
export async function* walkWorkspace(root: string, options: WalkOptions): AsyncGenerator<Found> {
  const folders: string[][] = [[]];
  const heavy: string[][] = [];
  let entries = 0;
  for (let folder = folders.shift(); folder; folder = folders.shift() ?? heavy.shift()) {
    for await (const entry of entriesOf(root, folder)) {
      options.signal?.throwIfAborted();
      entries += 1;
      if (entries > options.maxEntries) return;
      if (entry.isFile() && isPart(nameOf(entry))) continue;
      const found = classify(folder, entry, options);
      if (found !== 'folder') yield found;
      else if (isHeavy(folder, entry)) heavy.push([...folder, nameOf(entry)]);
      else folders.push([...folder, nameOf(entry)]);
    }
  }
}

/** Opens a path of the working directory, which may be a folder. Null if it is missing, a link or a socket. */
export async function openFile(root: string, path: string): Promise<FileHandle | null> {
  const parts = path.split('/');
  const folder = await openFolder(root, parts.slice(0, -1));
  if (folder === null) return null;
  try {
    return await openFileBelow(folder, parts.at(-1) ?? '');
  } finally {
    await folder.close();
  }
}

type RawEntry = Dirent<Buffer>;

async function* entriesOf(root: string, folder: string[]): AsyncGenerator<RawEntry> {
  const handle = await openFolder(root, folder);
  if (handle === null) return;
  try {
    const options = { encoding: 'buffer' as BufferEncoding }; // accepted, although not declared
    const listing = await opendir(`/proc/self/fd/${handle.fd}`, options);
    for await (const entry of listing) yield entry as unknown as RawEntry; // as the option says
  } finally {
    await handle.close();
  }
}

function classify(
  folder: string[],
  entry: RawEntry,
  { maxDepth, heavy }: WalkOptions,
): Found | 'folder' {
  const path = [...folder, nameOf(entry)].join('/');
  const other = (reason: string): Found => ({ kind: 'other', path, reason });
  if (!isUtf8(entry.name)) return other('its name is not UTF-8');
  if (entry.isFile()) return { kind: 'file', path };
  if (!entry.isDirectory()) return other(entry.isSymbolicLink() ? 'a link' : 'not a file');
  if (heavy === 'never' && isHeavy(folder, entry)) return other('not looked into');
  return folder.length + 1 < maxDepth ? 'folder' : other('too deep');
}

function isHeavy(folder: string[], entry: RawEntry): boolean {
  return heavyNames.has(nameOf(entry)) || folder.some((part) => heavyNames.has(part));
}

function nameOf(entry: RawEntry): string {
  return entry.name.toString('utf8');
}
