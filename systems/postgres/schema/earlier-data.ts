import { createPool, type Db } from '../client/pool.ts';
import { readSchemaFiles, type SchemaFile } from './schema-files.ts';

/** The database was created by another baseline, so no migration leads to the current schema. */
export class EarlierDataError extends Error {
  override name = 'EarlierDataError';
}

/**
 * Throws if the database has data of an earlier commit, and deletes nothing. Such a database lists
 * migrations, but not the current baseline with its current content.
 */
export async function assertNoEarlierData(db: Db, migrations?: SchemaFile[]): Promise<void> {
  const applied = await appliedMigrations(db);
  if (applied.length === 0) return;
  const known = migrations ?? (await readSchemaFiles()).migrations;
  const hashes = new Map(applied.map(({ name, sha256 }) => [name, sha256]));
  const [baseline] = known;
  const isSameBaseline = baseline !== undefined && hashes.has(baseline.name);
  const isChanged = known.some(({ name, sha256 }) => (hashes.get(name) ?? sha256) !== sha256);
  if (!isSameBaseline || isChanged) throw new EarlierDataError(await howToReset(db));
}

/**
 * For the start of a process: the sentence that says what to do, or null. A database that cannot be
 * read is left to the checks that follow.
 */
export async function findEarlierData(url: string): Promise<string | null> {
  // A single client's end() never settles if the server closed the connection during the TLS
  // handshake.
  const pool = createPool(url, { applicationName: 'flowrun', max: 1 });
  try {
    await assertNoEarlierData(pool);
    return null;
  } catch (error) {
    return error instanceof EarlierDataError ? error.message : null;
  } finally {
    await pool.end().catch(() => undefined);
  }
}

interface AppliedMigration {
  name: string;
  /** Null in databases of commits that did not store it. */
  sha256: string | null;
}

/** In their order; none in an empty database. */
export async function appliedMigrations(db: Db): Promise<AppliedMigration[]> {
  const table = await db.query<{ exists: boolean }>(
    `select to_regclass('migrations') is not null as exists`,
  );
  if (!table.rows[0]?.exists) return [];
  const { rows } = await db.query<AppliedMigration>(
    `select name, to_jsonb(m) ->> 'sha256' as sha256 from migrations m order by name`,
  );
  return rows;
}

/** Only a superuser sees the folder; the local stack connects as one. */
async function howToReset(db: Db): Promise<string> {
  const { rows } = await db.query<{ database: string; folder: string | null }>(
    `select current_database() as database,
            (select setting from pg_settings where name = 'data_directory') as folder`,
  );
  const { database = '', folder = null } = rows[0] ?? {};
  const stack = /^(.*\/([^/]+))\/postgres\/cluster$/.exec(folder ?? '');
  if (stack === null)
    return (
      `The database ${database} was created by an earlier commit, and this version cannot use it: ` +
      'to delete its data and start over, run `docker compose down -v`, which removes the volume ' +
      'flowrun_postgres, or drop the database if you run Postgres yourself.'
    );
  const [, dataFolder, name] = stack;
  const stop = name === 'demo' ? 'npm run stop' : `npm run stop -- ${name}`;
  return (
    `The data in ${dataFolder} was created by an earlier commit, and this version cannot use it: ` +
    `to start over, run \`${stop}\` and \`rm -r ${dataFolder}\`.`
  );
}
