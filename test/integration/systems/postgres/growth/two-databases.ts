import type { PoolClient } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { useDatabase } from '../../../../support/use-database.ts';
import { type GrowthSize, grow } from './grow.ts';
import { createSubjects, type Subjects } from './subjects.ts';

type Name = 'empty' | 'grown';

/** A database with only the subjects of the calls, and one with many other records beside them. */
export function useTwoDatabases(size: GrowthSize) {
  const databases = { empty: useDatabase(), grown: useDatabase() };
  // Empty until `beforeAll`, so that they can be constants; no test runs before that.
  const subjects = {} as Record<Name, Subjects>;
  const clients = {} as Record<Name, PoolClient>;
  beforeAll(async () => {
    for (const name of ['empty', 'grown'] as const) {
      const { pool, url } = databases[name];
      subjects[name] = await createSubjects(pool);
      const { scenario, oldFlowIds } = subjects[name];
      if (name === 'grown') await grow(url, { scenario, oldFlowId: oldFlowIds[0] }, size);
      else await pool.query('vacuum analyze');
      clients[name] = await pool.connect();
    }
  });
  afterAll(() => Object.values(clients).forEach((client) => client.release()));
  return { subjects, clients };
}
