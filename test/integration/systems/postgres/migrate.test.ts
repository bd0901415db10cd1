import { afterEach, expect, test } from 'vitest';
import { migrate } from '../../../../systems/postgres/schema/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase | undefined;
afterEach(() => database?.drop());

test('several processes that migrate at once make one schema', async () => {
  database = await createEmptyDatabase();
  const { url, pool } = database;
  await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)]);
  const { rows } = await pool.query('select name, count(*) as times from migrations group by name');
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.filter((row) => row.times !== 1)).toEqual([]);
  expect((await pool.query('select from runs')).rowCount).toBe(0);
});

test('migrating again changes nothing', async () => {
  database = await createEmptyDatabase();
  await migrate(database.url);
  const before = await database.pool.query('select * from migrations order by id');
  await migrate(database.url);
  const after = await database.pool.query('select * from migrations order by id');
  expect(after.rows).toEqual(before.rows);
});
