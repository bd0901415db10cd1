import type { PoolClient } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { useDatabase } from '../../../../support/use-database.ts';
import { type GrowthSize, grow } from './grow.ts';
import { createSubjects, type Subjects } from './subjects.ts';

type Name = 'empty' | 'grown';

/**
 * While autovacuum analyzes a table, its snapshot keeps the row versions that the calls leave
 * behind. Pages then fill up, and an update that fits no page is not HOT.
 */
const withoutAutovacuum = `
  do $$
  declare name regclass;
  begin
    for name in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    loop
      execute format('alter table %s set (autovacuum_enabled = false)', name);
    end loop;
  end $$`;

/** A database with only the subjects of the calls, and one with many other records beside them. */
export function useTwoDatabases(size: GrowthSize) {
  const databases = { empty: useDatabase(), grown: useDatabase() };
  // Empty until `beforeAll`, so that they can be constants; no test runs before that.
  const subjects = {} as Record<Name, Subjects>;
  const clients = {} as Record<Name, PoolClient>;
  beforeAll(async () => {
    for (const name of ['empty', 'grown'] as const) {
      const { pool, url } = databases[name];
      await pool.query(withoutAutovacuum);
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
