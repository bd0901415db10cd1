// Projects share the blob of equal content: while the process of one has stopped between two
// statements, the others store and find the content.

import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { withTimeout } from '../../../../lib/async/timeout.ts';
import { readStoredBytes } from '../../../../systems/postgres/accounts/stored-bytes.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { openTcpHoldProxy } from '../../../faults/support/tcp-hold-proxy.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { untilWaiting } from './session-turns.ts';

/** A process that stops between two statements loses its locks after a minute. */
const soonMs = 20_000;

const database = useDatabase();
const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);
const createProject = async () => (await createScenario(database.pool, testSealer)).projectId;
let stopped: string;
let other: string;
beforeEach(async () => {
  await query('truncate blobs cascade');
  [stopped, other] = [await createProject(), await createProject()];
});

function someContent(size: number) {
  const content = randomBytes(size);
  const id = { sha256: createHash('sha256').update(content).digest('hex'), size };
  const store = (projectId: string, pool: Pool = database.pool) => {
    const owner = { of: { projectId }, kind: 'files' } as const;
    return createBlobStore(pool).put(Readable.from([content]), id, owner);
  };
  return { ...id, store };
}
const large = limits.blob.chunkBytes + 1;
const sizes = [limits.blob.chunkBytes, large];

const dayMs = 24 * 3_600_000;
/** The end of a transaction; its begin says `read committed`. */
const theCommit = /commit(?!ted)/;
/** Ages all blobs until retention removes those that no file refers to. */
const age = () => query(`update blobs set created_at = created_at - interval '2 days'`);
const removeBlobs = () => createRetentionStore(database.pool).removeBlobs(dayMs, '');
const filesOf = async (projectId: string) =>
  (await readStoredBytes(database.pool, projectId)).files;

/** A process whose statements stop arriving, beginning with the first that matches. */
async function openStopping(at: RegExp) {
  const proxy = await openTcpHoldProxy(database.url);
  const pool = createPool(proxy.url, { applicationName: 'test-stopping' });
  onTestFinished(async () => {
    proxy.close();
    await pool.end();
  });
  proxy.hold(at);
  return { proxy, pool };
}

test.each(sizes)(
  'stored content of %i bytes waits for no process that has stopped',
  async (size) => {
    const { sha256, store } = someContent(size);
    await store(stopped);
    await age();
    const { proxy, pool } = await openStopping(theCommit);
    let isStored = false;
    const storing = store(stopped, pool).then(() => {
      isStored = true;
    });
    await expect.poll(() => isStored || proxy.held() !== '').toBe(true);
    await withTimeout(soonMs, store(other));
    const found = createBlobStore(database.pool).has([sha256]);
    expect(await withTimeout(soonMs, found)).toEqual(new Set([sha256]));
    proxy.release();
    await storing;
  },
);

test.each([/staged_chunks \(like/, /into pg_temp/, /into blob_chunks/, /truncate/])(
  'large content waits for no process that stopped before %s',
  async (at) => {
    const { size, store } = someContent(large);
    const { proxy, pool } = await openStopping(at);
    const storing = store(stopped, pool);
    await expect.poll(proxy.held).not.toBe('');
    await withTimeout(soonMs, store(other));
    await age();
    expect(await withTimeout(soonMs, removeBlobs())).toMatchObject({ removed: 1 });
    proxy.release();
    await storing;
    const isStored = String(at).includes('truncate') ? 0 : size;
    expect([await filesOf(stopped), await filesOf(other)]).toEqual([isStored, 0]);
  },
);

test.each(sizes)('%i bytes that retention removes meanwhile are stored again', async (size) => {
  const { sha256, store } = someContent(size);
  await store(stopped);
  const removing = await database.pool.connect();
  onTestFinished(() => removing.release());
  await removing.query('begin');
  await removing.query('delete from blobs where sha256 = $1', [Buffer.from(sha256, 'hex')]);
  const storing = store(other);
  await untilWaiting(database.pool);
  await removing.query('commit');
  await storing;
  const stored = await createBlobStore(database.pool).has([sha256]);
  expect([stored.size, await filesOf(other)]).toEqual([1, size]);
});

test.each(sizes)('retention does not remove %i bytes that were stored again', async (size) => {
  const { store } = someContent(size);
  await store(stopped);
  await age();
  await store(other);
  expect(await removeBlobs()).toMatchObject({ removed: 0 });
  await age();
  expect(await removeBlobs()).toMatchObject({ removed: 1 });
});
