// Content by its SHA-256, in rows of 1 MiB.

import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { type BlobId, type BlobOwner, createUploads, putBlob } from './put-blob.ts';

interface ByteRange {
  /** First byte; 0 by default. */
  start?: number;
  /** The byte after the last; by default the blob's size. */
  end?: number;
}

export type BlobStore = ReturnType<typeof createBlobStore>;

export function createBlobStore(pool: Pool) {
  const uploads = createUploads(pool);
  return {
    /** Throws and stores nothing if the content does not match its id. Safe to repeat. */
    put: (chunks: AsyncIterable<Buffer>, id: BlobId, owner: BlobOwner | null = null) =>
      putBlob(uploads, chunks, { ...id, owner }),
    /** Throws if there is no such blob. */
    read: (sha256: string, range: ByteRange = {}) => readBlob(pool, sha256, range),
    /** Reads all blobs of a single chunk with one query; for many small files. */
    readSmall: (sha256s: string[]) => readSmall(pool, sha256s),
    /** The blobs that exist. They are not collected for hours from now, referenced or not. */
    has: (sha256s: string[]) => findExisting(pool, sha256s),
  };
}

async function* readBlob(pool: Pool, sha256: string, range: ByteRange): AsyncGenerator<Buffer> {
  const size = await sizeOf(pool, sha256);
  const end = Math.min(range.end ?? size, size);
  let at = Math.max(range.start ?? 0, 0);
  while (at < end) {
    const piece = await readPiece(pool, sha256, { at, end });
    yield piece;
    at += piece.length;
  }
}

async function sizeOf(db: Db, sha256: string): Promise<number> {
  const text = 'select size from blobs where sha256 = $1';
  const { rows } = await db.query<{ size: number }>(text, [Buffer.from(sha256, 'hex')]);
  if (!rows[0]) throw new Error(`no blob ${sha256}`);
  return rows[0].size;
}

/** From a position to the end of its chunk, or to the requested end. */
async function readPiece(
  db: Db,
  sha256: string,
  { at, end }: { at: number; end: number },
): Promise<Buffer> {
  const idx = Math.floor(at / limits.blob.chunkBytes);
  const first = at - idx * limits.blob.chunkBytes;
  const length = Math.min(limits.blob.chunkBytes - first, end - at);
  const { rows } = await db.query<{ piece: Buffer }>(
    `select substring(data from $3 for $4) as piece from blob_chunks
     where sha256 = $1 and idx = $2`,
    [Buffer.from(sha256, 'hex'), idx, first + 1, length],
  );
  const piece = rows[0]?.piece;
  if (!piece || piece.length !== length) throw new Error(`blob ${sha256} lacks chunk ${idx}`);
  return piece;
}

async function readSmall(db: Db, sha256s: string[]): Promise<Map<string, Buffer>> {
  const { rows } = await db.query<{ sha256: string; data: Buffer }>(
    `select encode(b.sha256, 'hex') as sha256, c.data
     from blobs b join blob_chunks c on c.sha256 = b.sha256 and c.idx = 0
     where b.sha256 = any($1::bytea[]) and b.size <= $2`,
    [sha256s.map((sha256) => Buffer.from(sha256, 'hex')), limits.blob.chunkBytes],
  );
  return new Map(rows.map(({ sha256, data }) => [sha256, data]));
}

async function findExisting(db: Db, sha256s: string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ sha256: string }>(
    `with here as (
       select sha256, created_at from blobs where sha256 = any($1::bytea[])
     ),
     touched as (
       update blobs b set created_at = db_clock()
       from (
         select sha256 from blobs
         where sha256 = any($1::bytea[]) and created_at < db_clock() - $2 * interval '1 ms'
         order by sha256 for no key update
       ) old
       where b.sha256 = old.sha256
       returning b.sha256, b.created_at
     )
     select encode(here.sha256, 'hex') as sha256
     from here left join touched on touched.sha256 = here.sha256
     where touched.sha256 is not null or here.created_at >= db_clock() - $2 * interval '1 ms'`,
    [sha256s.map((sha256) => Buffer.from(sha256, 'hex')), limits.blob.touchMs],
  );
  return new Set(rows.map((row) => row.sha256));
}
