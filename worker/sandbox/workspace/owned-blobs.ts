import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import type { BlobOwner } from '../../../systems/postgres/files/put-blob.ts';

/** Stores blobs that count for the project of a run. */
export interface OwnedBlobs {
  has: BlobStore['has'];
  put(...blob: BlobToPut): Promise<void>;
}

type BlobToPut = [chunks: AsyncIterable<Buffer>, id: { sha256: string; size: number }];

export function ownedBlobs(
  blobs: Pick<BlobStore, 'put' | 'has'>,
  runId: string,
  kind: BlobOwner['kind'],
): OwnedBlobs {
  const owner = { of: { runId }, kind };
  return { has: blobs.has, put: (chunks, id) => blobs.put(chunks, id, owner) };
}
