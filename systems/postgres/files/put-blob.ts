// One statement publishes a blob, so it is never readable incomplete, and no row is locked while
// its content arrives. Of several writers of the same content one stores it, and the others refresh
// `created_at`: they wait for the statement in Postgres, each with a connection. A stored
// blob may belong to several projects, so no transaction has its row locked between two statements.
// Large blobs use at most half of the pool, and small ones a quarter, so that uploads leave
// connections to other work, and large ones do not delay small ones.

import { createHash } from 'node:crypto';
import type { QueryConfig } from 'pg';
import { limits } from '../../../core/limits.ts';
import { createKeyedMutex, type KeyedMutex } from '../../../lib/async/keyed-mutex.ts';
import { createSemaphore, type Semaphore } from '../../../lib/async/semaphore.ts';
import type { Db, Pool } from '../client/pool.ts';

export interface BlobId {
  /** Hex. */
  sha256: string;
  size: number;
}

/**
 * The owner of new content: it counts for the project. Existing content continues to count for the
 * project that stored it first.
 */
export interface BlobOwner {
  of: { runId: string } | { projectId: string };
  kind: 'files' | 'transcripts';
}

/** A blob to store. Without an owner it counts for no project. */
interface NewBlob extends BlobId {
  owner: BlobOwner | null;
}

/** Blobs that this process stores. */
interface Uploads {
  pool: Pool;
  /** Bounds how many large blobs have a connection: each holds it while its content is read. */
  large: Semaphore;
  /** Bounds how many small blobs are read and stored at once. */
  small: Semaphore;
  /** Serializes uploads of the same large content, so that later ones find it stored. */
  contentMutex: KeyedMutex;
}

/** One per pool. */
export const createUploads = (pool: Pool): Uploads => ({
  pool,
  large: createSemaphore(Math.max(1, Math.floor(pool.options.max / 2))),
  small: createSemaphore(Math.max(1, Math.floor(pool.options.max / 4))),
  contentMutex: createKeyedMutex(),
});

export function putBlob(
  uploads: Uploads,
  chunks: AsyncIterable<Buffer>,
  id: NewBlob,
): Promise<void> {
  return id.size <= limits.blob.chunkBytes
    ? uploads.small.run(() => putSmall(uploads.pool, chunks, id))
    : uploads.contentMutex.runExclusive(id.sha256, () => putLarge(uploads, chunks, id));
}

/** Refreshes `created_at` of an existing blob: unreferenced blobs are collected by age. */
const claimBlobSql = `
  made as (
    insert into blobs (sha256, size, kind, project_id)
    values ($1, $2, $3, coalesce($4, (select r.project_id from runs r where r.id = $5::uuid)))
    on conflict (sha256) do update set created_at = excluded.created_at
    returning sha256, size, kind, project_id, xmax = 0 as is_new
  ),
  counted as (
    insert into stored_bytes_changes (project_id, kind, bytes)
    select project_id, kind, size from made where is_new and project_id is not null
  )`;

function claimValues({ sha256, size, owner }: NewBlob): unknown[] {
  const projectId = owner !== null && 'projectId' in owner.of ? owner.of.projectId : null;
  const runId = owner !== null && 'runId' in owner.of ? owner.of.runId : null;
  return [Buffer.from(sha256, 'hex'), size, owner?.kind ?? 'files', projectId, runId];
}

async function putSmall(db: Db, chunks: AsyncIterable<Buffer>, id: NewBlob): Promise<void> {
  const check = createContentCheck(id);
  const parts: Buffer[] = [];
  for await (const part of chunks) parts.push(check.add(part));
  check.finish();
  await db.query({
    name: 'put_blob',
    text: `with ${claimBlobSql}
      insert into blob_chunks (sha256, idx, data) select sha256, 0, $6 from made where is_new`,
    values: [...claimValues(id), Buffer.concat(parts)],
  });
}

/** While the content arrives it is in a temporary table, so no lock is held. */
async function putLarge(
  { pool, large }: Uploads,
  chunks: AsyncIterable<Buffer>,
  id: NewBlob,
): Promise<void> {
  await large.run(async () => {
    if (await touchBlob(pool, id)) return;
    await withStaging(pool, async (db) => {
      const check = createContentCheck(id);
      let idx = 0;
      for await (const chunk of rechunk(chunks, limits.blob.chunkBytes)) {
        await stageChunk(db, id, { idx, data: check.add(chunk) });
        idx += 1;
      }
      check.finish();
      await publishStaged(db, id);
    });
  });
}

/**
 * On one connection, whose statements may take as long as the default of `SNAPSHOT_TIMEOUT_MS`: the
 * removal of the same blob, which `publishStaged` waits for, may take long. The statements are not
 * a transaction, so the connection's timeouts are changed and reset. A connection that fails is
 * closed, and its staged chunks are deleted with it.
 */
async function withStaging(pool: Pool, work: (db: Db) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let isClean = false;
  try {
    await client.query(openStaging);
    await work(client);
    await client.query(closeStaging);
    isClean = true;
  } finally {
    client.release(!isClean);
  }
}

const openStaging = `
  set statement_timeout = ${limits.snapshot.timeoutMs};
  set lock_timeout = ${limits.snapshot.timeoutMs};
  create temporary table if not exists staged_chunks (like blob_chunks including storage)`;
const closeStaging = `
  truncate pg_temp.staged_chunks; reset statement_timeout; reset lock_timeout`;

/** Refreshes `created_at`. False if it is not stored, or if another transaction uses its row. */
async function touchBlob(db: Db, { sha256 }: BlobId): Promise<boolean> {
  const text = `update blobs set created_at = default where sha256 = (
                  select sha256 from blobs where sha256 = $1 for no key update skip locked
                )`;
  const { rowCount } = await db.query(text, [Buffer.from(sha256, 'hex')]);
  return rowCount === 1;
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

async function stageChunk(
  db: Db,
  { sha256 }: BlobId,
  { idx, data }: { idx: number; data: Buffer },
): Promise<void> {
  const text = 'insert into pg_temp.staged_chunks (sha256, idx, data) values ($1, $2, $3)';
  await db.query(text, [Buffer.from(sha256, 'hex'), idx, data]);
}

/** If another process has stored the content since, its `created_at` is refreshed. */
async function publishStaged(db: Db, blob: NewBlob): Promise<void> {
  const text = `
    with ${claimBlobSql}
    insert into blob_chunks (sha256, idx, data)
    select s.sha256, s.idx, s.data from pg_temp.staged_chunks s, made where made.is_new`;
  const values = claimValues(blob);
  const query: QueryWithTimeout = { text, values, query_timeout: limits.snapshot.timeoutMs };
  await db.query(query);
}

/** A file may change while it is read; the stored content always matches its id. */
function createContentCheck(id: BlobId) {
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
