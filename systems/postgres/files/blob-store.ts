// Content by its SHA-256, in rows of 1 MiB. A blob is written in one transaction and is readable
// once it is complete. Of several writers of the same content one writes; the others wait without a
// connection and then find it. Large blobs use at most half of the pool, so that uploads leave
// connections to other work.

import { createHash } from 'node:crypto';
import type { QueryConfig } from 'pg';
import { limits } from '../../../core/limits.ts';
import { createKeyedMutex, type KeyedMutex } from '../../../lib/async/keyed-mutex.ts';
import { createSemaphore, type Semaphore } from '../../../lib/async/semaphore.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';

interface BlobId {
  /** Hex. */
  sha256: string;
  size: number;
}

interface ByteRange {
  /** First byte; 0 by default. */
  start?: number;
  /** The byte after the last; by default the blob's size. */
  end?: number;
}

export type BlobStore = ReturnType<typeof createBlobStore>;

export function createBlobStore(pool: Pool) {
  const uploads: Uploads = {
    pool,
    slots: createSemaphore(Math.max(1, Math.floor(pool.options.max / 2))),
    writers: createKeyedMutex(),
  };
  return {
    /** Throws and stores nothing if the content does not match its id. Safe to repeat. */
    put: (chunks: AsyncIterable<Buffer>, id: BlobId) => putBlob(uploads, chunks, id),
    /** Throws if there is no such blob. */
    read: (sha256: string, range: ByteRange = {}) => readBlob(pool, sha256, range),
    /** Reads all blobs of a single chunk with one query; for many small files. */
    readSmall: (sha256s: string[]) => readSmall(pool, sha256s),
    /** The blobs that exist. They are not collected for hours from now, referenced or not. */
    has: (sha256s: string[]) => findExisting(pool, sha256s),
  };
}

/** Large blobs that this process stores. */
interface Uploads {
  pool: Pool;
  /** Each holds a connection for as long as its content is read. */
  slots: Semaphore;
  /** By content. */
  writers: KeyedMutex;
}

function putBlob(uploads: Uploads, chunks: AsyncIterable<Buffer>, id: BlobId): Promise<void> {
  return id.size <= limits.blob.chunkBytes
    ? putSmall(uploads.pool, chunks, id)
    : uploads.writers.runExclusive(id.sha256, () => putLarge(uploads, chunks, id));
}

/** An existing blob gets a new age, because unreferenced blobs are collected by age. */
const claim = `insert into blobs (sha256, size) values ($1, $2)
  on conflict (sha256) do update set created_at = excluded.created_at`;

async function putSmall(db: Db, chunks: AsyncIterable<Buffer>, id: BlobId): Promise<void> {
  const check = createCheck(id);
  const parts: Buffer[] = [];
  for await (const part of chunks) parts.push(check.add(part));
  check.finish();
  await db.query(
    `with made as (
       ${claim} returning sha256, xmax = 0 as is_new
     )
     insert into blob_chunks (sha256, idx, data) select sha256, 0, $3 from made where is_new`,
    [Buffer.from(id.sha256, 'hex'), id.size, Buffer.concat(parts)],
  );
}

/** Waits while another process writes the same content. Afterwards its blob exists, or this one writes it. */
async function putLarge(
  { pool, slots }: Uploads,
  chunks: AsyncIterable<Buffer>,
  id: BlobId,
): Promise<void> {
  const until = performance.now() + limits.snapshot.timeoutMs;
  while ((await slots.run(() => tryPutLarge(pool, chunks, id))) === 'busy') {
    if (performance.now() > until) throw new Error(`blob ${id.sha256} is still being written`);
    await sleep(limits.blob.busyPollMs);
  }
}

/** `busy`: another process writes the content. Nothing was read yet. */
async function tryPutLarge(
  pool: Pool,
  chunks: AsyncIterable<Buffer>,
  id: BlobId,
): Promise<'stored' | 'busy'> {
  return inTransaction(pool, async (db) => {
    if (!(await lockContent(db, id))) return 'busy';
    if (!(await claimBlob(db, id))) return 'stored';
    const check = createCheck(id);
    let idx = 0;
    for await (const chunk of rechunk(chunks, limits.blob.chunkBytes)) {
      await insertChunk(db, id, { idx, data: check.add(chunk) });
      idx += 1;
    }
    check.finish();
    return 'stored';
  });
}

/**
 * False if another transaction has the lock; it is released when that one ends. Also raises the
 * timeouts: the removal of the same blob, which `claimBlob` waits for, may take long.
 */
async function lockContent(db: Db, { sha256 }: BlobId): Promise<boolean> {
  const text = `select pg_try_advisory_xact_lock(hashtextextended('blob ' || $1, 0)) as "isLocked",
                       set_config('lock_timeout', $2, true), set_config('statement_timeout', $2, true)`;
  const { rows } = await db.query<{ isLocked: boolean }>(text, [
    sha256,
    String(limits.snapshot.timeoutMs),
  ]);
  return rows[0]?.isLocked ?? false;
}

/** The same bytes in pieces of exactly `bytes`, except the last one. */
async function* rechunk(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  for await (const chunk of chunks) {
    buffered.push(chunk);
    bufferedBytes += chunk.length;
    if (bufferedBytes < bytes) continue;
    let rest = Buffer.concat(buffered, bufferedBytes);
    for (; rest.length >= bytes; rest = rest.subarray(bytes)) yield rest.subarray(0, bytes);
    buffered = [rest];
    bufferedBytes = rest.length;
  }
  if (bufferedBytes > 0) yield Buffer.concat(buffered, bufferedBytes);
}

/** The timeout of a single query, which the types of pg lack. */
type QueryWithTimeout = QueryConfig & { query_timeout: number };

async function claimBlob(db: Db, { sha256, size }: BlobId): Promise<boolean> {
  const text = `${claim} returning xmax = 0 as "isNew"`;
  const values = [Buffer.from(sha256, 'hex'), size];
  const query: QueryWithTimeout = { text, values, query_timeout: limits.snapshot.timeoutMs };
  const { rows } = await db.query<{ isNew: boolean }>(query);
  return rows[0]?.isNew ?? false;
}

async function insertChunk(
  db: Db,
  { sha256 }: BlobId,
  { idx, data }: { idx: number; data: Buffer },
): Promise<void> {
  const text = 'insert into blob_chunks (sha256, idx, data) values ($1, $2, $3)';
  await db.query(text, [Buffer.from(sha256, 'hex'), idx, data]);
}

/** A file may change while it is read; the stored content always matches its id. */
function createCheck(id: BlobId) {
  const hash = createHash('sha256');
  let size = 0;
  return {
    add(part: Buffer): Buffer {
      size += part.length;
      if (size > id.size) throw new Error(`blob ${id.sha256} is longer than ${id.size} bytes`);
      hash.update(part);
      return part;
    },
    finish(): void {
      if (size !== id.size) throw new Error(`blob ${id.sha256} ended after ${size} bytes`);
      if (hash.digest('hex') !== id.sha256) throw new Error(`blob ${id.sha256} has other content`);
    },
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
