// A database as one stream and back. It comes back in one transaction, together with the note that it
// did: whoever looks at the database finds what was there before, or all of what is to be there.

import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PgTools } from '../client/pg-tools.ts';
import type { Db } from '../client/pool.ts';

export interface DatabaseFacts {
  now: Date;
  serverMajor: number;
  /** The last migration; null where there is no schema. */
  schema: string | null;
  isEmpty: boolean;
  /** The service's processes that are connected. */
  users: string[];
}

export async function readFacts(db: Db): Promise<DatabaseFacts> {
  const { rows } = await db.query<DatabaseFacts & { hasMigrations: boolean }>(
    `select db.*, to_regclass('public.migrations') is not null as "hasMigrations", null as schema
     from (
       select date_trunc('milliseconds', clock_timestamp()) as now,
         current_setting('server_version_num')::int / 10000 as "serverMajor",
         not exists (
           select from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
         ) as "isEmpty",
         array(${serviceUsers}) as users
     ) db`,
  );
  const [facts] = rows;
  if (!facts) throw new Error('the database says nothing of itself');
  const { hasMigrations, ...rest } = facts;
  return { ...rest, schema: hasMigrations ? await readSchema(db) : null };
}

/** As API and worker name their connections. */
const serviceUsers = `
  select distinct a.application_name::text from pg_stat_activity a
  where a.datname = current_database() and a.application_name ~ '-(api|worker)$' order by 1`;

async function readSchema(db: Db): Promise<string | null> {
  const text = 'select name from migrations order by name desc limit 1';
  const { rows } = await db.query<{ name: string }>(text);
  return rows[0]?.name ?? null;
}

/**
 * As one snapshot of the database; roles and rights are those of whoever restores it. Ends what it
 * writes into, and returns when that has taken everything.
 */
export async function dump(programs: PgTools, into: Writable): Promise<void> {
  const format = ['--format=custom', '--no-owner', '--no-privileges', '--no-password'];
  const { input, output, ended } = programs.start('pg_dump', [...format, '{}']);
  input.end();
  await pipeline(output, into);
  await ended;
}

interface RestoreSource {
  dump: Readable;
  dumpedAt: Date;
}

/** Whatever is in the database is replaced. A failure leaves it as it was. */
export async function restore(
  programs: PgTools,
  { dump: source, dumpedAt }: RestoreSource,
): Promise<void> {
  const reading = programs.start('pg_restore', ['--no-owner', '--no-privileges', '--file=-']);
  const quiet = ['--no-psqlrc', '--quiet', '--no-password', '--output=/dev/null'];
  const strict = ['--set=ON_ERROR_STOP=1', '--file=-'];
  const writing = programs.start('psql', [...quiet, ...strict, '{}']);
  writing.output.resume();
  try {
    writing.input.write(beforeDump);
    const fed = pipeline(source, reading.input);
    await Promise.all([fed, pipeline(reading.output, writing.input, { end: false })]);
    await reading.ended;
    writing.input.write(afterDump(dumpedAt));
  } catch (error) {
    // What a program has said comes before what a pipe has; without a commit nothing has changed.
    writing.input.end();
    await writing.ended;
    await reading.ended;
    throw error;
  }
  writing.input.end();
  await writing.ended;
}

const beforeDump = `
begin;
set lock_timeout = '10s';
set client_min_messages = error;
drop schema if exists public cascade;
create schema public;
grant usage on schema public to public;
`;

/** Whoever came while it was going on has seen what is no longer there. */
const afterDump = (dumpedAt: Date): string => `
do $$
begin
  if exists (${serviceUsers}) then
    raise exception 'the service was started meanwhile';
  end if;
end
$$;
set search_path = public;
select record_restore('${dumpedAt.toISOString()}');
commit;
`;
