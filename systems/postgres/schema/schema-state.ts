import type { Db } from '../client/pool.ts';
import { appliedMigrations, assertNoEarlierData } from './earlier-data.ts';
import { readSchemaFiles, type SchemaFile } from './schema-files.ts';

export interface SchemaState {
  /** The last migration that was applied; null in an empty database. */
  last: string | null;
  /** Migrations and functions of this version that were never applied to the database. */
  missing: string[];
  /** Migrations of a later version. */
  unknown: string[];
}

/**
 * A function that a later version has replaced does not count as missing: processes of this version
 * may still run during an upgrade. Throws if the database has data of an earlier commit.
 */
export async function schemaState(db: Db): Promise<SchemaState> {
  const { migrations, functions } = await readSchemaFiles();
  await assertNoEarlierData(db, migrations);
  const applied = (await appliedMigrations(db)).map(({ name }) => name);
  const known = migrations.map(({ name }) => name);
  const missing = known.filter((name) => !applied.includes(name));
  return {
    last: applied.at(-1) ?? null,
    missing: missing.length > 0 ? missing : await missingFunctions(db, functions),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/** The last migration. Throws if the schema is not complete. */
export async function requireCompleteSchema(db: Db): Promise<string | null> {
  const { last, missing } = await schemaState(db);
  if (missing.length === 0) return last;
  throw new Error(`the schema lacks ${missing.join(', ')}: run flowrun migrate`);
}

async function missingFunctions(db: Db, functions: SchemaFile[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select f.name from unnest($1::text[], $2::text[]) f(name, sha256)
     where not exists (
       select from schema_functions s where s.name = f.name and s.sha256 = f.sha256
     ) order by f.name`,
    [functions.map(({ name }) => name), functions.map(({ sha256 }) => sha256)],
  );
  return rows.map(({ name }) => `function ${name}`);
}
