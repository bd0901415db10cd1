import { readdir } from 'node:fs/promises';
import { clockAheadMs } from '../../../core/clock-offset.ts';
import { migrationsFolder } from '../schema/migrate.ts';
import type { Db } from './pool.ts';

export async function postgresVersion(db: Db): Promise<string> {
  const text = `select current_setting('server_version') as version`;
  const { rows } = await db.query<{ version: string }>(text);
  // Debian writes its own name behind the number.
  return rows[0]?.version.split(' ')[0] ?? '';
}

/** Of this process's clock, against the one that all of the service goes by. */
export async function clockAheadOfPostgres(db: Db): Promise<number> {
  const atMs = Date.now();
  const { rows } = await db.query<{ now: Date }>('select db_clock() as now');
  const answeredAtMs = Date.now();
  return clockAheadMs({ atMs, answeredAtMs }, rows[0]?.now.getTime() ?? atMs);
}

export interface SchemaState {
  /** The last migration that was applied; null in an empty database. */
  last: string | null;
  /** What this version brings and the database does not have. */
  missing: string[];
  /** What the database has of a later version. */
  unknown: string[];
}

export async function schemaState(db: Db): Promise<SchemaState> {
  const files = await readdir(migrationsFolder);
  const known = files.map((file) => file.replace(/\.sql$/, '')).sort();
  const applied = await appliedMigrations(db);
  return {
    last: applied.at(-1) ?? null,
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/** The last migration of a schema that has all of this version's; throws where it has not. */
export async function wholeSchema(db: Db): Promise<string | null> {
  const { last, missing } = await schemaState(db);
  if (missing.length === 0) return last;
  throw new Error(`the schema lacks ${missing.join(', ')}: run flowrun migrate`);
}

async function appliedMigrations(db: Db): Promise<string[]> {
  const there = await db.query<{ is: boolean }>(
    `select to_regclass('migrations') is not null as is`,
  );
  if (!there.rows[0]?.is) return [];
  const { rows } = await db.query<{ name: string }>('select name from migrations order by name');
  return rows.map(({ name }) => name);
}
