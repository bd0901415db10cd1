import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import { withTimeout } from '../../../../lib/async/timeout.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { holdContents } from '../../../support/hold-contents.ts';

let database: TestDatabase;
let second: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  second = createPool(database.url, { applicationName: 'test-second', max: 20 });
});
afterAll(async () => {
  await second.end();
  await database.drop();
});

const blobs = (pool = database.pool) => createBlobStore(pool);
const idOf = (content: Buffer) => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  size: content.length,
});

async function* inPieces(content: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes);
}

/** The rest arrives after the first chunk, once `rest` has resolved. */
async function* gated(
  content: Buffer,
  rest: Promise<unknown>,
  onWaiting: () => void = () => undefined,
): AsyncGenerator<Buffer> {
  yield content.subarray(0, chunk);
  onWaiting();
  await rest;
  yield content.subarray(chunk);
}

async function readAll(sha256: string, range?: { start?: number; end?: number }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of blobs().read(sha256, range)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function rowsOf(sha256: string): Promise<{ blobs: number; bytes: number }> {
  const { rows } = await database.pool.query(
    `select (select count(*) from blobs where sha256 = $1) as blobs,
            (select coalesce(sum(length(data)), 0)::int from blob_chunks where sha256 = $1) as bytes`,
    [Buffer.from(sha256, 'hex')],
  );
  return rows[0];
}

const chunk = limits.blob.chunkBytes;
const sizes = [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 7];

test.each(sizes)('returns the %i bytes that were stored, in chunks of any size', async (size) => {
  const content = randomBytes(size);
  const id = idOf(content);
  await blobs().put(inPieces(content, 70_001), id);
  expect((await readAll(id.sha256)).equals(content)).toBe(true);
  expect(await rowsOf(id.sha256)).toEqual({ blobs: 1, bytes: size });
});

describe('a range', () => {
  const content = randomBytes(2 * chunk + 500);
  const { sha256 } = idOf(content);
  beforeAll(() => blobs().put(inPieces(content, chunk), idOf(content)));

  test.each([
    [0, 1],
    [chunk - 1, chunk + 1],
    [chunk, 2 * chunk],
    [5, 2 * chunk + 499],
    [2 * chunk + 499, 2 * chunk + 500],
    [2 * chunk, 9 * chunk],
    [7, 7],
    [9 * chunk, 10 * chunk],
  ])('from %i to before %i is just that', async (start, end) => {
    expect((await readAll(sha256, { start, end })).equals(content.subarray(start, end))).toBe(true);
  });

  test('without an end extends to the end of the content', async () => {
    expect((await readAll(sha256, { start: 10 })).equals(content.subarray(10))).toBe(true);
  });
});

test('storing the same content twice keeps one blob', async () => {
  const content = randomBytes(chunk + 5);
  const id = idOf(content);
  await blobs().put(inPieces(content, chunk), id);
  await blobs().put(inPieces(content, chunk), id);
  expect(await rowsOf(id.sha256)).toEqual({ blobs: 1, bytes: id.size });
});

test.each([100, 2 * chunk + 9])(
  'twenty concurrent writers of the same %i bytes keep one blob',
  async (size) => {
    const content = randomBytes(size);
    const id = idOf(content);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        blobs(n % 2 ? second : database.pool).put(inPieces(content, 300_000), id),
      ),
    );
    expect(await rowsOf(id.sha256)).toEqual({ blobs: 1, bytes: size });
    expect((await readAll(id.sha256)).equals(content)).toBe(true);
  },
);

test('a large blob is stored at once while its content still arrives at another process', async () => {
  const shared = randomBytes(2 * chunk);
  const id = idOf(shared);
  const gate = createDeferred<true>();
  const writing = blobs(second).put(gated(shared, gate.promise), id);
  await expect.poll(() => second.totalCount - second.idleCount).toBe(1);
  await withTimeout(10_000, blobs().put(inPieces(shared, chunk), id));
  expect(await rowsOf(id.sha256)).toEqual({ blobs: 1, bytes: shared.length });
  gate.resolve(true);
  await writing;
  expect(await rowsOf(id.sha256)).toEqual({ blobs: 1, bytes: shared.length });
});

test('a process has no transaction and no lock while the content of a large blob arrives', async () => {
  const one = createPool(database.url, { applicationName: 'test-arriving', max: 2 });
  onTestFinished(() => one.end());
  const gate = createDeferred<true>();
  const content = randomBytes(3 * chunk);
  let readBytes = 0;
  const writing = blobs(one).put(
    gated(content, gate.promise, () => {
      readBytes += chunk;
    }),
    idOf(content),
  );
  await expect.poll(() => readBytes).toBe(chunk);
  const held = `select from pg_stat_activity a left join pg_locks l using (pid)
    where a.application_name = 'test-arriving'
      and (l.pid is not null or a.xact_start is not null or a.state <> 'idle')`;
  await expect.poll(async () => (await database.pool.query(held)).rowCount).toBe(0);
  gate.resolve(true);
  await writing;
  expect((await readAll(idOf(content).sha256)).equals(content)).toBe(true);
  const left = await one.query('select from pg_temp.staged_chunks');
  expect([left.rowCount, one.totalCount]).toEqual([0, 1]);
  const timeouts = 'show statement_timeout; show lock_timeout';
  const ofDefaults = await database.pool.query(timeouts);
  expect(await one.query(timeouts)).toMatchObject(ofDefaults);
});

test('large blobs leave half of the connections to other statements', async () => {
  const small = createPool(database.url, { applicationName: 'test-small', max: 4 });
  const { put } = blobs(small);
  const gate = createDeferred<true>();
  const contents = Array.from({ length: 6 }, () => randomBytes(2 * chunk));
  const uploads = Promise.all(
    contents.map((content) => put(gated(content, gate.promise), idOf(content))),
  );
  await expect.poll(() => small.totalCount - small.idleCount).toBe(2);
  await Promise.all([small.query('select pg_sleep(0.2)'), small.query('select pg_sleep(0.2)')]);
  expect(small.totalCount - small.idleCount).toBe(2);
  gate.resolve(true);
  await uploads;
  await small.end();
});

test('blobs of every size leave a quarter of the connections to other statements', async () => {
  const small = createPool(database.url, { applicationName: 'test-small', max: 4 });
  const { put } = blobs(small);
  const release = await holdContents(database.pool);
  const contents = Array.from({ length: 50 }, (_, n) => randomBytes(n % 2 ? 100 : chunk + 1));
  const uploads = Promise.all(
    contents.map((content) => put(inPieces(content, chunk), idOf(content))),
  );
  await expect.poll(() => small.totalCount - small.idleCount).toBe(3);
  for (let n = 0; n < 5; n += 1) await small.query('select 1');
  expect(small.waitingCount).toBe(0);
  await release();
  await uploads;
  await small.end();
});

describe.each([1_000, 2 * chunk])('content of %i bytes with a wrong digest', (size) => {
  const content = randomBytes(size);
  const id = idOf(content);
  const changed = Buffer.from(content);
  changed[size - 1] = (changed[size - 1] ?? 0) ^ 1;

  test.each([
    ['other bytes', changed, 'other content'],
    ['too few', content.subarray(0, size - 1), 'ended after'],
    ['too many', Buffer.concat([content, content]), 'longer than'],
  ])('is refused and stores nothing: %s', async (_name, wrong, reason) => {
    await expect(blobs().put(inPieces(wrong, 4_096), id)).rejects.toThrow(reason);
    expect(await rowsOf(id.sha256)).toEqual({ blobs: 0, bytes: 0 });
    await expect(readAll(id.sha256)).rejects.toThrow('no blob');
  });

  test('does not block the blob with the right content', async () => {
    const wrong = blobs().put(inPieces(changed, 4_096), id);
    const right = blobs(second).put(inPieces(content, 4_096), id);
    await Promise.allSettled([wrong]); // it finds the right blob, or is rejected
    await right;
    expect((await readAll(id.sha256)).equals(content)).toBe(true);
  });
});

test('a source that fails midway stores nothing', async () => {
  const content = randomBytes(2 * chunk);
  async function* failing() {
    yield content.subarray(0, chunk + 10);
    throw new Error('disk gone');
  }
  await expect(blobs().put(failing(), idOf(content))).rejects.toThrow('disk gone');
  expect(await rowsOf(idOf(content).sha256)).toEqual({ blobs: 0, bytes: 0 });
});

test('reads many small blobs at once, and none larger than a chunk', async () => {
  const contents = [randomBytes(0), randomBytes(10), randomBytes(chunk), randomBytes(chunk + 1)];
  for (const content of contents) await blobs().put(inPieces(content, chunk), idOf(content));
  const ids = contents.map((content) => idOf(content).sha256);
  const found = await blobs().readSmall([...ids, idOf(Buffer.from('none')).sha256]);
  expect(found.size).toBe(3);
  for (const [sha256, content] of found) expect(idOf(content).sha256).toBe(sha256);
  expect([...found.keys()].sort()).toEqual(ids.slice(0, 3).sort());
});

test('returns which of many are stored', async () => {
  const [stored, missing] = [randomBytes(10), randomBytes(10)].map(idOf);
  if (!stored || !missing) throw new Error('no ids');
  await blobs().put(inPieces(randomBytes(0), 1), idOf(Buffer.alloc(0)));
  expect(await blobs().has([stored.sha256, missing.sha256, idOf(Buffer.alloc(0)).sha256])).toEqual(
    new Set([idOf(Buffer.alloc(0)).sha256]),
  );
  expect(await blobs().has([])).toEqual(new Set());
});
