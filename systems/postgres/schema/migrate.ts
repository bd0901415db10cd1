import pg from 'pg';
import type { Db } from '../client/pool.ts';
import { beginTransaction } from '../client/transaction.ts';
import { applyFunctions, createFunctions } from './apply-functions.ts';
import { assertNoEarlierData } from './earlier-data.ts';
import { readSchemaFiles, type SchemaFile, type SchemaFiles } from './schema-files.ts';

/**
 * Brings the schema up to date in one transaction, so that other processes never see functions and
 * tables that do not match. Safe when several processes run it at once: an advisory lock lets one
 * after the other in, and the later ones find nothing to do.
 */
export async function migrate(url: string, files?: SchemaFiles): Promise<void> {
  const { migrations, functions } = files ?? (await readSchemaFiles());
  const client = new pg.Client({ connectionString: url, application_name: 'flowrun-migrate' });
  client.on('error', () => undefined); // the statement that is running fails with the same error
  await client.connect();
  try {
    await client.query(beginTransaction);
    await client.query(`select pg_advisory_xact_lock(hashtextextended('migrate', 0))`);
    await assertNoEarlierData(client, migrations);
    await client.query(bookkeeping);
    await applyMigrations(client, migrations, functions);
    await applyFunctions(client, functions);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** Every version of a function that was ever applied stays listed; see schema-state.ts. */
const bookkeeping = `
  create table if not exists migrations (
    name text primary key,
    sha256 text not null,
    applied_at timestamptz not null default clock_timestamp()
  );
  create table if not exists schema_functions (
    name text not null,
    sha256 text not null,
    is_current boolean not null,
    primary key (name, sha256)
  );
  create unique index if not exists schema_functions_current on schema_functions (name)
    where is_current`;

/**
 * Column defaults, indexes and triggers call these functions, so they must exist before the tables.
 */
const usedByTables = ['db_clock', 'label_pairs', 'reject_change'];

async function applyMigrations(
  db: Db,
  migrations: SchemaFile[],
  functions: SchemaFile[],
): Promise<void> {
  const { rows } = await db.query<{ name: string }>('select name from migrations');
  const applied = new Set(rows.map(({ name }) => name));
  const missing = migrations.filter(({ name }) => !applied.has(name));
  if (applied.size === 0) {
    await createFunctions(
      db,
      functions.filter(({ name }) => usedByTables.includes(name)),
    );
  }
  for (const { name, sha256, sql } of missing) {
    await db.query(sql);
    await db.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256]);
  }
}
