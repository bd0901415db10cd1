import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { checkFilePath } from '../../../core/files/file-path.ts';
import { limits } from '../../../core/limits.ts';
import type {
  StoredTranscript,
  Transcript,
  TranscriptFile,
} from '../../../core/sessions/transcript.ts';
import { modeOf, modifiedAtOf } from '../workspace/entry-attributes.ts';
import { readChunks } from '../workspace/hash-file.ts';
import type { OwnedBlobs } from '../workspace/owned-blobs.ts';
import { walkOptions } from '../workspace/read-tree.ts';
import { isFolder } from '../workspace/snapshot.ts';
import { storeBlobs } from '../workspace/store-blobs.ts';
import { openFile, walkWorkspace } from '../workspace/walk.ts';

interface TranscriptSource {
  root: string;
  /** The result of the last save. */
  stored: StoredTranscript[];
  /** Checked between two files. */
  signal: AbortSignal | undefined;
}

/**
 * Stores what the agent has added to its conversation since the last save. A file whose stored part
 * has changed is stored again as a whole. Null if the folder is missing.
 */
export async function storeTranscript(
  blobs: OwnedBlobs,
  { root, stored, signal }: TranscriptSource,
): Promise<Transcript | null> {
  if (!(await isFolder(root))) return null;
  const read = await readTranscript({ root, stored, signal });
  const entries = read.files
    .filter(({ rest }) => rest.size > 0)
    .map(({ path, base, rest }) => ({ path, ...rest, start: base?.appendAt ?? 0 }));
  const uploaded = await storeBlobs(blobs, { root, entries, areNew: true, signal });
  const isStored = new Set(uploaded.stored.map(({ path }) => path));
  return {
    files: read.files.filter(({ path, rest }) => rest.size === 0 || isStored.has(path)),
    changed: [...read.changed, ...uploaded.changed],
  };
}

/** Links, special files, and files over the limits of a snapshot are left out. */
async function readTranscript({ root, stored, signal }: TranscriptSource): Promise<Transcript> {
  const bases = new Map(stored.map((base) => [base.path, base]));
  const transcript: Transcript = { files: [], changed: [] };
  let bytesLeft: number = limits.snapshot.maxBytes;
  for await (const { kind, path } of walkWorkspace(root, { ...walkOptions, signal })) {
    if (kind !== 'file' || !checkFilePath(path).ok) continue;
    if (transcript.files.length >= limits.snapshot.maxFiles) break;
    const read = await readFile(root, { path, base: bases.get(path) ?? null, bytesLeft });
    if (read === 'changed') transcript.changed.push(path);
    else if (read !== 'skipped') {
      transcript.files.push(read);
      bytesLeft -= read.size;
    }
  }
  return transcript;
}

async function readFile(
  root: string,
  { path, base, bytesLeft }: { path: string; base: StoredTranscript | null; bytesLeft: number },
): Promise<TranscriptFile | 'skipped' | 'changed'> {
  const file = await openFile(root, path);
  if (file === null) return 'skipped';
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > bytesLeft) return 'skipped';
    const content = await hashSince(file, stats.size, base);
    if (content === null) return 'changed';
    return { path, mode: modeOf(stats), modifiedAt: modifiedAtOf(stats), ...content };
  } finally {
    await file.close();
  }
}

type HashedContent = Pick<TranscriptFile, 'size' | 'sha256' | 'base' | 'rest'>;

/** Null if the file has become shorter. */
async function hashSince(
  file: FileHandle,
  size: number,
  base: StoredTranscript | null,
): Promise<HashedContent | null> {
  const whole = createHash('sha256');
  const rest = createHash('sha256');
  const appendAt = base?.appendAt ?? size;
  let isUnchanged = base !== null && base.size <= size;
  const cuts = [...new Set([0, appendAt, base?.size ?? size, size])].filter((cut) => cut <= size);
  let at = 0;
  for (const cut of cuts.toSorted((a, b) => a - b)) {
    for await (const chunk of readChunks(file, cut, at)) {
      whole.update(chunk);
      if (at >= appendAt) rest.update(chunk);
      at += chunk.length;
    }
    if (at < cut) return null;
    if (at === base?.size) isUnchanged &&= whole.copy().digest('hex') === base.sha256;
  }
  const sha256 = whole.digest('hex');
  if (base === null || !isUnchanged) return { size, sha256, base: null, rest: { sha256, size } };
  return { size, sha256, base, rest: { sha256: rest.digest('hex'), size: size - appendAt } };
}
