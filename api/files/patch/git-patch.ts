// A patch in git's format. From the IDs in the `index` lines, `git apply` recognizes whether a file
// is the one that the patch was made for.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createDeflate } from 'node:zlib';
import {
  type FileChange,
  type FileVersion,
  isExecutable,
} from '../../../core/files/file-change.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { base85LineBytes, base85Lines } from './base85.ts';
import { quotedPath } from './quoted-path.ts';
import { textHunks } from './text-hunks.ts';

type Blobs = Pick<BlobStore, 'read'>;

/** Reads one file at a time. At most two versions of a text are in memory. */
export async function* gitPatch(blobs: Blobs, changes: FileChange[]): AsyncGenerator<Buffer> {
  for (const change of changes) {
    const { before, after } = change;
    yield Buffer.from(headOf(change));
    if (before?.sha256 === after?.sha256) continue;
    const contents = await textsOf(blobs, change);
    const ids = [before, after].map((version) => idOf(blobs, version));
    const [oldId, newId] = await Promise.all(ids);
    yield Buffer.from(`index ${oldId}..${newId}\n`);
    if (contents === null) yield* binaryHunk(blobs, after);
    else yield Buffer.from(textHunk(change, contents));
  }
}

function headOf({ path, before, after }: FileChange): string {
  const names = `diff --git ${quotedPath(`a/${path}`)} ${quotedPath(`b/${path}`)}\n`;
  if (before === null) return `${names}new file mode ${modeOf(after)}\n`;
  if (after === null) return `${names}deleted file mode ${modeOf(before)}\n`;
  if (modeOf(before) === modeOf(after)) return names;
  return `${names}old mode ${modeOf(before)}\nnew mode ${modeOf(after)}\n`;
}

const modeOf = (version: FileVersion | null): string =>
  version !== null && isExecutable(version) ? '100755' : '100644';

/** Git's ID of a content; zeros for a file that does not exist. */
async function idOf(blobs: Blobs, version: FileVersion | null): Promise<string> {
  if (version === null) return '0'.repeat(40);
  const hash = createHash('sha1').update(`blob ${version.size}\0`);
  for await (const piece of blobs.read(version.sha256)) hash.update(piece);
  return hash.digest('hex');
}

interface Texts {
  before: string;
  after: string;
}

/** Null unless both versions are texts of moderate size, whose comparison takes little time. */
async function textsOf(blobs: Blobs, { before, after }: FileChange): Promise<Texts | null> {
  const old = await textOf(blobs, before);
  const text = old === null ? null : await textOf(blobs, after);
  return old === null || text === null ? null : { before: old, after: text };
}

const textMaxBytes = limits.blob.chunkBytes;
const textMaxLines = 20_000;

/** Null if the content is not a text. A file that does not exist is empty. */
async function textOf(blobs: Blobs, version: FileVersion | null): Promise<string | null> {
  if (version === null) return '';
  if (version.size > textMaxBytes) return null;
  const content = await buffer(blobs.read(version.sha256));
  if (!isUtf8(content) || content.includes(0)) return null;
  const text = content.toString();
  return text.split('\n', textMaxLines + 1).length > textMaxLines ? null : text;
}

function textHunk({ path, before, after }: FileChange, texts: Texts): string {
  const hunks = textHunks(texts.before, texts.after);
  if (hunks === '') return ''; // an empty file
  const names = [
    before === null ? '/dev/null' : quotedPath(`a/${path}`),
    after === null ? '/dev/null' : quotedPath(`b/${path}`),
  ];
  return `--- ${names[0]}\n+++ ${names[1]}\n${hunks}`;
}

/** The whole new content. The old one is left out, which halves the size of the patch. */
async function* binaryHunk(blobs: Blobs, after: FileVersion | null): AsyncGenerator<Buffer> {
  yield Buffer.from(`GIT binary patch\nliteral ${after?.size ?? 0}\n`);
  const content = after === null ? Readable.from([]) : Readable.from(blobs.read(after.sha256));
  let rest = Buffer.alloc(0);
  // An error ends both streams, and is thrown here.
  for await (const piece of pipeline(content, createDeflate(), () => undefined)) {
    const bytes = Buffer.concat([rest, piece as Buffer]);
    const whole = bytes.length - (bytes.length % base85LineBytes);
    yield base85Lines(bytes.subarray(0, whole));
    rest = bytes.subarray(whole);
  }
  yield base85Lines(rest);
  yield Buffer.from('\n');
}
