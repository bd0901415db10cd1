import { createHash } from 'node:crypto';
import type { RestorableTranscript } from '../../../core/sessions/transcript.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { type Written, writeFiles } from '../workspace/write-files.ts';

type Blobs = Pick<BlobStore, 'read' | 'readSmall'>;

const filesAtOnce = 100;
/** Segments up to this size are read together. */
const smallBytes = 64 * 1024;
const segmentsAtOnce = 64;

/** Throws if the stored segments of a file are not the content that was saved. */
export async function writeTranscript(
  blobs: Blobs,
  root: string,
  files: RestorableTranscript[],
): Promise<Written> {
  const contentOf = contentReader(blobs);
  for (let from = 0; from < files.length; from += filesAtOnce) {
    const some = files.slice(from, from + filesAtOnce);
    const written = await writeFiles(root, some, contentOf);
    if (written.outcome === 'rejected') return written;
  }
  return { outcome: 'written' };
}

const contentReader = (blobs: Blobs) =>
  async function* contentOf({ path, sha256, segments }: RestorableTranscript) {
    const hash = createHash('sha256');
    for await (const chunk of readSegments(blobs, segments)) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== sha256) throw new Error(`the stored transcript ${path} is damaged`);
  };

async function* readSegments(
  blobs: Blobs,
  segments: RestorableTranscript['segments'],
): AsyncGenerator<Buffer> {
  for (let from = 0; from < segments.length; from += segmentsAtOnce) {
    const some = segments.slice(from, from + segmentsAtOnce);
    const small = await blobs.readSmall(
      some.filter(({ size }) => size <= smallBytes).map(({ sha256 }) => sha256),
    );
    for (const { sha256 } of some) {
      const content = small.get(sha256);
      if (content === undefined) yield* blobs.read(sha256);
      else yield content;
    }
  }
}
