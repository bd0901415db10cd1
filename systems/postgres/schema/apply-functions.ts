import type { Db } from '../client/pool.ts';
import type { SchemaFile } from './schema-files.ts';

/** Creates what is new or changed, and drops functions whose files are gone. */
export async function applyFunctions(db: Db, functions: SchemaFile[]): Promise<void> {
  const current = await currentFunctions(db);
  const names = new Set(functions.map(({ name }) => name));
  const changed = functions.filter(({ name, sha256 }) => current.get(name) !== sha256);
  const gone = [...current.keys()].filter((name) => !names.has(name));
  for (const name of gone) await dropFunction(db, name);
  await createFunctions(db, changed);
}

/**
 * Bodies are not checked, because functions call each other in any order; a test checks them. A
 * changed function is dropped first, because replacing it cannot change its result or parameters.
 */
export async function createFunctions(db: Db, functions: SchemaFile[]): Promise<void> {
  await db.query('set local check_function_bodies = off');
  for (const { name, sql, sha256 } of functions) {
    await dropFunction(db, name);
    await db.query(sql);
    await db.query(
      `insert into schema_functions (name, sha256, is_current) values ($1, $2, true)
       on conflict (name, sha256) do update set is_current = true`,
      [name, sha256],
    );
  }
}

async function currentFunctions(db: Db): Promise<Map<string, string>> {
  const text = 'select name, sha256 from schema_functions where is_current';
  const { rows } = await db.query<{ name: string; sha256: string }>(text);
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

/** Leaves functions that a table or an index uses: they can only be replaced. */
async function dropFunction(db: Db, name: string): Promise<void> {
  const { rows } = await db.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
     where p.proname = $1 and p.pronamespace = current_schema()::regnamespace
       and not exists (select from pg_depend d where d.refobjid = p.oid)`,
    [name],
  );
  for (const { signature } of rows) await db.query(`drop function ${signature}`);
  await db.query('update schema_functions set is_current = false where name = $1', [name]);
}
