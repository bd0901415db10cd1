import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPool } from '../../../../systems/postgres/client/pool.ts';
import { inTransaction } from '../../../../systems/postgres/client/transaction.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

const backends = `
  select pid from pg_stat_activity where application_name = $1 and datname = current_database()`;

async function terminate(name: string): Promise<void> {
  await database.pool.query(`select pg_terminate_backend(pid) from (${backends}) b`, [name]);
}

test('an idle connection closed by the server breaks nothing, and the next statement works', async () => {
  const lost: Error[] = [];
  const onError = (error: Error) => lost.push(error);
  const pool = createPool(database.url, { applicationName: 'idle-victim', onError });
  await pool.query('select 1');
  await terminate('idle-victim');
  await expect.poll(() => lost.length).toBe(1);
  expect(inspect(lost[0], { depth: 10 })).not.toContain(new URL(database.url).password);
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});

test('keeps a few idle connections open, and no more', async () => {
  const name = 'kept-open';
  const pool = createPool(database.url, { applicationName: name });
  const used = Array.from({ length: 6 }, () => pool.query('select pg_sleep(0.2)'));
  await Promise.all(used);
  const open = async () => (await database.pool.query(backends, [name])).rowCount;
  expect(await open()).toBe(6);
  await expect.poll(open, { timeout: 15_000 }).toBe(4);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await open()).toBe(4);
  await pool.end();
}, 30_000);

test('idle connections are probed every half minute', async () => {
  const pool = createPool(database.url, { applicationName: 'asked-after' });
  const { rows } = await pool.query<{ port: number }>('select inet_client_port() as port');
  const seconds = secondsToKeepAlive(rows[0]?.port ?? 0);
  expect(seconds).toBeGreaterThan(15);
  expect(seconds).toBeLessThanOrEqual(30);
  await pool.end();
});

/** Time until the kernel's next keep-alive probe of the connection from this port, if enabled. */
function secondsToKeepAlive(port: number): number | null {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  const timer = new RegExp(`:${local} \\S+ \\S+ \\S+ 02:([0-9A-F]{8})`);
  const [, ticks] = timer.exec(readFileSync('/proc/net/tcp', 'utf8')) ?? [];
  return ticks === undefined ? null : Number.parseInt(ticks, 16) / 100;
}

test('a connection lost between two statements fails its transaction and nothing else', async () => {
  const lost: Error[] = [];
  const pool = createPool(database.url, {
    applicationName: 'held-victim',
    max: 1,
    onError: (error) => lost.push(error),
  });
  const work = inTransaction(pool, async (db) => {
    await db.query('create table never_made (id integer)');
    await terminate('held-victim');
    await expect.poll(() => lost.length).toBeGreaterThan(0);
    await db.query('select 1');
  });
  await expect(work).rejects.toThrow();
  const { rows } = await pool.query(`select to_regclass('never_made') as made`);
  expect(rows).toEqual([{ made: null }]);
  await pool.end();
});

test('a failed transaction changes nothing and returns a clean connection', async () => {
  const pool = createPool(database.url, { applicationName: 'rollback', max: 1 });
  const work = inTransaction(pool, async (db) => {
    await db.query('create table never_made (id integer)');
    await db.query('select 1 / 0');
  });
  await expect(work).rejects.toThrow('division by zero');
  const { rows } = await pool.query(`select to_regclass('never_made') as made`);
  expect(rows).toEqual([{ made: null }]);
  await pool.end();
});

test('returns big integers as numbers, and limits every statement and lock wait', async () => {
  const { rows } = await database.pool.query(
    `select 9007199254740991::bigint as big, current_setting('statement_timeout') as statement,
            current_setting('lock_timeout') as lock`,
  );
  expect(rows).toEqual([{ big: Number.MAX_SAFE_INTEGER, statement: '30s', lock: '10s' }]);
});
