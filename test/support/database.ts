import { randomBytes } from 'node:crypto';
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

/** Creates a migrated database for a test file. */
export async function createTestDatabase(serverUrl?: string): Promise<TestDatabase> {
  const database = await createEmptyDatabase(serverUrl);
  await migrate(database.url);
  return database;
}

export async function createEmptyDatabase(serverUrl = stackEnv.postgresUrl): Promise<TestDatabase> {
  const name = `frs_test_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = name;
  const pool = createPool(url.href, { applicationName: 'test', max: 20 });
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end();
      await onServer(serverUrl, `drop database ${name} with (force)`);
    },
  };
}

export const testSealer = createSealer(randomBytes(32));

async function onServer(url: string, statement: string): Promise<void> {
  const server = createPool(url, { applicationName: 'test', max: 1 });
  try {
    await server.query(statement);
  } finally {
    await server.end();
  }
}
