// Dumps the database as one stream, and restores it. The restore is one transaction that also
// records itself, so readers see the content from before or the complete new one.

import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PgTools } from '../client/pg-tools.ts';
import type { Db } from '../client/pool.ts';

export interface DatabaseFacts {
  now: Date;
  serverMajor: number;
  /** The last migration; null if there is no schema. */
  schema: string | null;
  isEmpty: boolean;
  /** The connected processes of the service. */
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
  if (!facts) throw new Error('the database facts returned no row');
  const { hasMigrations, ...rest } = facts;
  return { ...rest, schema: hasMigrations ? await readSchema(db) : null };
}

/** The application names of API and worker. */
const serviceUsers = `
  select distinct a.application_name::text from pg_stat_activity a
  where a.datname = current_database() and a.application_name ~ '-(api|worker)$' order by 1`;

async function readSchema(db: Db): Promise<string | null> {
  const text = 'select name from migrations order by name desc limit 1';
  const { rows } = await db.query<{ name: string }>(text);
  return rows[0]?.name ?? null;
}

/**
 * One snapshot of the database, without roles and privileges. Ends the stream `into` and returns
 * when it has taken everything.
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

/** Replaces the content of the database. A failure leaves it as it was. */
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
    // The error of a program comes before that of a pipe. Without the commit nothing has changed.
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

/**
 * A backup may be restored together with another Temporal, which has none of its workflows, and
 * with other hosts. The first process stores the identity of the Temporal that it finds.
 */
const clearDeploymentState = `
delete from host_leases;
insert into temporal_identity (losses_accepted_at) values (db_clock())
on conflict (is_only) do update
  set cluster_id = null, namespace_id = null, namespace = null,
      losses_accepted_at = excluded.losses_accepted_at, missing_workflows = null,
      described_workflows = null, missing_since = null, missing_seen_at = null`;

/** A process that connected meanwhile has read content that no longer exists. */
const afterDump = (dumpedAt: Date): string => `
do $$
begin
  if exists (${serviceUsers}) then
    raise exception 'the service was started during the restore';
  end if;
end
$$;
set search_path = public;
select record_restore('${dumpedAt.toISOString()}');
${clearDeploymentState};
commit;
`;
