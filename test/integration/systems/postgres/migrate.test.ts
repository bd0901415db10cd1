import { afterEach, expect, test } from 'vitest';
import { migrate } from '../../../../systems/postgres/schema/migrate.ts';
import {
  readSchemaFiles,
  type SchemaFile,
  type SchemaFiles,
} from '../../../../systems/postgres/schema/schema-files.ts';
import { schemaState } from '../../../../systems/postgres/schema/schema-state.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase | undefined;
afterEach(() => database?.drop());

async function emptyDatabase(): Promise<TestDatabase> {
  database = await createEmptyDatabase();
  return database;
}

const greetings = (sql: string, name = 'greeting'): SchemaFile => ({ name, sql, sha256: sql });

async function filesWith(...functions: SchemaFile[]): Promise<SchemaFiles> {
  const files = await readSchemaFiles();
  return { ...files, functions: [...files.functions, ...functions] };
}

async function functionNames({ pool }: TestDatabase): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select proname as name from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('several concurrent migrations create one schema', async () => {
  const { url, pool } = await emptyDatabase();
  await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)]);
  const { migrations } = await readSchemaFiles();
  const { rows } = await pool.query('select name from migrations order by name');
  expect(rows).toEqual(migrations.map(({ name }) => ({ name })));
  expect((await pool.query('select from runs')).rowCount).toBe(0);
});

test('creates exactly the functions that have a file', async () => {
  const { url } = await emptyDatabase();
  await migrate(url);
  const { functions } = await readSchemaFiles();
  expect(await functionNames(database as TestDatabase)).toEqual(functions.map(({ name }) => name));
});

test('migrating again changes nothing', async () => {
  const { url, pool } = await emptyDatabase();
  const everything = async () => ({
    migrations: (await pool.query('select * from migrations order by name')).rows,
    functions: (await pool.query('select oid, xmin from pg_proc order by oid')).rows,
  });
  await migrate(url);
  const before = await everything();
  await migrate(url);
  expect(await everything()).toEqual(before);
});

test('every function body names tables, columns and functions that exist', async () => {
  const { url, pool } = await emptyDatabase();
  await migrate(url);
  await pool.query('set check_function_bodies = on');
  for (const { sql } of (await readSchemaFiles()).functions) await pool.query(sql);
});

test('applies a function again when its content changes, even its result type', async () => {
  const { url, pool } = await emptyDatabase();
  const text = `create function greeting() returns text language sql as $$ select 'hello' $$`;
  await migrate(url, await filesWith(greetings(text)));
  expect((await pool.query('select greeting()')).rows).toEqual([{ greeting: 'hello' }]);
  const number = `create function greeting(n integer) returns integer language sql as $$ select n $$`;
  await migrate(url, await filesWith(greetings(number)));
  expect((await pool.query('select greeting(1)')).rows).toEqual([{ greeting: 1 }]);
  await expect(pool.query('select greeting()')).rejects.toThrow('does not exist');
});

test('applies a function again that the indexes of a table use', async () => {
  const { url } = await emptyDatabase();
  await migrate(url);
  const files = await readSchemaFiles();
  const functions = files.functions.map((file) =>
    file.name === 'label_pairs' ? { ...file, sha256: 'changed' } : file,
  );
  await migrate(url, { ...files, functions });
  const { rows } = await (database as TestDatabase).pool.query(
    `select sha256 from schema_functions where name = 'label_pairs' and is_current`,
  );
  expect(rows).toEqual([{ sha256: 'changed' }]);
});

test('drops a function whose file is gone, and no other', async () => {
  const { url, pool } = await emptyDatabase();
  const text = `create function greeting() returns text language sql as $$ select 'hello' $$`;
  await migrate(url, await filesWith(greetings(text)));
  await pool.query(text.replace('greeting', 'by_hand'));
  await migrate(url);
  const names = await functionNames(database as TestDatabase);
  expect(names).toContain('by_hand');
  expect(names).not.toContain('greeting');
});

test('processes with different files never leave a mixture', async () => {
  const { url } = await emptyDatabase();
  const sql = (text: string, name: string) =>
    `create function ${name}() returns text language sql as $$ select '${text}' $$`;
  const versions = await Promise.all(
    ['one', 'two', 'three'].map((text) =>
      filesWith(
        ...['greeting', 'parting'].map((name) => ({ name, sql: sql(text, name), sha256: text })),
      ),
    ),
  );
  await Promise.all([...versions, ...versions].map((files) => migrate(url, files)));
  const { rows } = await (database as TestDatabase).pool.query(
    'select greeting() = parting() as same',
  );
  expect(rows).toEqual([{ same: true }]);
});

test('a failure leaves the schema as it was', async () => {
  const { url, pool } = await emptyDatabase();
  const files = await filesWith(greetings('create function greeting() returns nothing_known'));
  await expect(migrate(url, files)).rejects.toThrow();
  expect((await pool.query(`select to_regclass('runs') as runs`)).rows).toEqual([{ runs: null }]);
});

test('lists what is missing, and nothing that a later version has replaced', async () => {
  const { url, pool } = await emptyDatabase();
  expect(await schemaState(pool)).toMatchObject({ last: null, missing: ['001_baseline'] });
  await migrate(url);
  expect(await schemaState(pool)).toEqual({ last: '001_baseline', missing: [], unknown: [] });
  const later = (await filesWith()).functions.map((file) =>
    file.name === 'admit_run' ? { ...file, sha256: 'later' } : file,
  );
  await migrate(url, { ...(await filesWith()), functions: later });
  expect((await schemaState(pool)).missing).toEqual([]);
  await pool.query(`delete from schema_functions where name = 'admit_run'`);
  expect((await schemaState(pool)).missing).toEqual(['function admit_run']);
});
