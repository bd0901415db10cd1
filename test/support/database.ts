import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { repository } from '../../dev/lib/folders.ts';
import { hashOfFolder } from '../../dev/lib/hash.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createPool, type Pool } from '../../systems/postgres/client/pool.ts';
import { migrate } from '../../systems/postgres/schema/migrate.ts';
import { stackEnv } from './stack-env.ts';

export interface TestDatabase {
  url: string;
  pool: Pool;
  /** Ends the pool, closes all other connections and drops the database. */
  drop(): Promise<void>;
}

/**
 * Creates a migrated database for a test file. On the stack's server it is a copy of a template,
 * because migrating takes several times as long.
 */
export async function createTestDatabase(serverUrl?: string): Promise<TestDatabase> {
  if (serverUrl === undefined) return copyTemplate();
  const database = await createEmptyDatabase(serverUrl);
  await migrate(database.url);
  return database;
}

export async function createEmptyDatabase(serverUrl = stackEnv.postgresUrl): Promise<TestDatabase> {
  const name = newName();
  await onServer(serverUrl, (server) => server.query(`create database ${name}`));
  return openDatabase(serverUrl, name);
}

async function copyTemplate(): Promise<TestDatabase> {
  const serverUrl = stackEnv.postgresUrl;
  const name = newName();
  const template = await (templateName ??= onServer(serverUrl, ensureTemplate));
  await onServer(serverUrl, (server) =>
    server.query(`create database ${name} template ${template}`),
  );
  const database = openDatabase(serverUrl, name);
  // A copy has the same id.
  await database.pool.query('update database_identity set id = gen_random_uuid()');
  return database;
}

/** Known once a test file of this process has needed it. */
let templateName: Promise<string> | null = null;

/** The template's name has the version of the schema. Other processes wait until it is complete. */
async function ensureTemplate(server: Pool): Promise<string> {
  const folder = join(repository, 'systems/postgres/schema');
  const template = `frs_template_${hashOfFolder(folder)}`;
  const client = await server.connect();
  try {
    await client.query('set lock_timeout = 0');
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
    const found = await client.query('select from pg_database where datname = $1', [template]);
    if (found.rowCount === 0) {
      const part = newName();
      await client.query(`create database ${part}`);
      await migrate(urlOf(stackEnv.postgresUrl, part));
      await client.query(`alter database ${part} rename to ${template}`);
    }
    return template;
  } finally {
    client.release(true); // closes the connection, and so releases the lock
  }
}

const newName = (): string => `frs_test_${randomBytes(6).toString('hex')}`;

function openDatabase(serverUrl: string, name: string): TestDatabase {
  const url = urlOf(serverUrl, name);
  const pool = createPool(url, { applicationName: 'test', max: 20 });
  return {
    url,
    pool,
    async drop() {
      await pool.end();
      await onServer(serverUrl, (server) => server.query(`drop database ${name} with (force)`));
    },
  };
}

function urlOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

export const testSealer = createSealer(randomBytes(32));

async function onServer<T>(url: string, work: (server: Pool) => Promise<T>): Promise<T> {
  const server = createPool(url, { applicationName: 'test', max: 1 });
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}
