// Everything is opened by descriptor: see safe-open.ts.

import { isUtf8 } from 'node:buffer';
import type { Dirent, Stats } from 'node:fs';
import { type FileHandle, opendir } from 'node:fs/promises';
import { openFileBelow, openFolder, thenClose } from './safe-open.ts';
import { isPart } from './staged-entry.ts';

export type Found =
  | { kind: 'file'; path: string }
  | { kind: 'link'; path: string }
  /** A folder that was entered. Its entries come later. */
  | { kind: 'folder'; path: string; stats: Stats }
  /** A folder that is not entered, a special file, or a name that is not UTF-8. */
  | { kind: 'other'; path: string; reason: string };

interface WalkOptions {
  maxDepth: number;
  /** Whether heavy folders (.git, node_modules) are entered last or never. */
  heavy: 'last' | 'never';
  /** The walk ends after this many entries. */
  maxEntries: number;
  signal?: AbortSignal | undefined;
}

const heavyNames = new Set(['.git', 'node_modules']);

/**
 * Walks breadth first, so that entries near the top come first. Skips entries that vanish or that
 * the service is writing. No path is found twice.
 */
export async function* walkWorkspace(root: string, options: WalkOptions): AsyncGenerator<Found> {
  const folders: string[][] = [[]];
  const heavy: string[][] = [];
  let entries = 0;
  for (let folder = folders.shift(); folder; folder = folders.shift() ?? heavy.shift()) {
    for await (const found of listFolder(root, folder, options)) {
      options.signal?.throwIfAborted();
      if (found.kind !== 'folder') entries += 1;
      if (entries > options.maxEntries) {
        yield { kind: 'other', path: folder.join('/'), reason: 'over the entry limit' };
        return;
      }
      if (found.kind !== 'subfolder') yield found;
      else if (isHeavy(found.parts)) heavy.push(found.parts);
      else folders.push(found.parts);
    }
  }
}

/**
 * Opens a path of the working directory, which may be a folder. Null if it is missing, a link or a
 * socket.
 */
export async function openFile(root: string, path: string): Promise<FileHandle | null> {
  const parts = path.split('/');
  const folder = await openFolder(root, parts.slice(0, -1));
  return folder === null ? null : thenClose(folder, openFileBelow(folder, parts.at(-1) ?? ''));
}

type RawEntry = Dirent<Buffer>;
type Listed = Found | { kind: 'subfolder'; parts: string[] };

/** A folder that changes while it is listed may list a name again, as something else. */
async function* listFolder(
  root: string,
  folder: string[],
  options: WalkOptions,
): AsyncGenerator<Listed> {
  const handle = await openFolder(root, folder);
  if (handle === null) return;
  try {
    const stats = await handle.stat();
    if (folder.length > 0) yield { kind: 'folder', path: folder.join('/'), stats };
    const seen = new Set<string>();
    for await (const entry of entriesOf(handle)) {
      const name = entry.name.toString('latin1');
      if (seen.has(name) || (!entry.isDirectory() && isPart(name))) continue;
      seen.add(name);
      yield classify(folder, entry, options);
    }
  } finally {
    await handle.close();
  }
}

async function* entriesOf(folder: FileHandle): AsyncGenerator<RawEntry> {
  const options = { encoding: 'buffer' as BufferEncoding }; // accepted, although not declared
  const listing = await opendir(`/proc/self/fd/${folder.fd}`, options);
  for await (const entry of listing) yield entry as unknown as RawEntry; // as the option says
}

function classify(folder: string[], entry: RawEntry, { maxDepth, heavy }: WalkOptions): Listed {
  const parts = [...folder, entry.name.toString('utf8')];
  const path = parts.join('/');
  const other = (reason: string): Found => ({ kind: 'other', path, reason });
  if (!isUtf8(entry.name)) return other('its name is not UTF-8');
  if (entry.isFile()) return { kind: 'file', path };
  if (entry.isSymbolicLink()) return { kind: 'link', path };
  if (!entry.isDirectory()) return other(specialKindOf(entry));
  if (heavy === 'never' && isHeavy(parts)) return other('not looked into');
  return parts.length < maxDepth ? { kind: 'subfolder', parts } : other('too deep');
}

function specialKindOf(entry: RawEntry): string {
  if (entry.isFIFO()) return 'a named pipe';
  return entry.isSocket() ? 'a socket' : 'a device';
}

const isHeavy = (parts: string[]): boolean => parts.some((part) => heavyNames.has(part));
