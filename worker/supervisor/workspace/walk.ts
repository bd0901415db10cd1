// A working directory is its agent's, and the agent may still be at work in it: any name may turn
// into a link between two calls. So nothing is opened by a path of more than one part. Each folder is
// opened below the descriptor of the one above it (`/proc/self/fd/N/<part>`, never following a link),
// and what a file is, is asked of its descriptor. `O_NONBLOCK`, because opening a pipe would wait for
// its other end, and four such waits stop every file operation of this process.

import { isUtf8 } from 'node:buffer';
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';

export type Found =
  | { kind: 'file'; path: string }
  /** A folder that is not entered, a link, a pipe, a name that no client could write. */
  | { kind: 'other'; path: string; reason: string };

export interface WalkOptions {
  maxDepth: number;
  /** Folders of these names are entered after all others, or never. */
  heavy: 'last' | 'never';
  /** Entries looked at before the walk gives up. */
  maxEntries: number;
  signal?: AbortSignal;
}

const heavyNames = new Set(['.git', 'node_modules']);
const folderFlags =
  constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Level by level, so that what is near the top comes first. Entries that vanish are passed over. */
export async function* walkWorkspace(root: string, options: WalkOptions): AsyncGenerator<Found> {
  const folders: string[][] = [[]];
  const heavy: string[][] = [];
  let entries = 0;
  for (let folder = folders.shift(); folder; folder = folders.shift() ?? heavy.shift()) {
    for await (const entry of entriesOf(root, folder)) {
      options.signal?.throwIfAborted();
      entries += 1;
      if (entries > options.maxEntries) return;
      const found = judge(folder, entry, options);
      if (found !== 'folder') yield found;
      else if (isHeavy(folder, entry)) heavy.push([...folder, nameOf(entry)]);
      else folders.push([...folder, nameOf(entry)]);
    }
  }
}

/** Opens a file of the working directory; null where there is none, or something else by now. */
export async function openFile(root: string, path: string): Promise<FileHandle | null> {
  const parts = path.split('/');
  const folder = await openFolder(root, parts.slice(0, -1));
  if (folder === null) return null;
  try {
    return await openBelow(folder, parts.at(-1) ?? '', fileFlags);
  } finally {
    await folder.close();
  }
}

type RawEntry = Dirent<Buffer>;

async function* entriesOf(root: string, folder: string[]): AsyncGenerator<RawEntry> {
  const handle = await openFolder(root, folder);
  if (handle === null) return;
  try {
    const options = { encoding: 'buffer' as BufferEncoding }; // taken, though not declared
    const listing = await opendir(`/proc/self/fd/${handle.fd}`, options);
    for await (const entry of listing) yield entry as unknown as RawEntry; // as the option says
  } finally {
    await handle.close();
  }
}

/** Down from the root, one part at a time. */
async function openFolder(root: string, parts: string[]): Promise<FileHandle | null> {
  let folder = await openOrNull(root, folderFlags);
  for (const part of parts) {
    if (folder === null) return null;
    const below: FileHandle | null = await openBelow(folder, part, folderFlags);
    await folder.close();
    folder = below;
  }
  return folder;
}

function openBelow(folder: FileHandle, part: string, flags: number): Promise<FileHandle | null> {
  return openOrNull(`/proc/self/fd/${folder.fd}/${part}`, flags);
}

/** What the agent may have done meanwhile is no error; what this host lacks is one. */
async function openOrNull(path: string, flags: number): Promise<FileHandle | null> {
  try {
    return await open(path, flags);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (goneCodes.has(code)) return null;
    throw error;
  }
}

const goneCodes = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENXIO',
  'ENODEV',
  'EACCES',
  'ENAMETOOLONG',
]);

function judge(
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
