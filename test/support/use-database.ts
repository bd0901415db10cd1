import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** Creates a database for the tests of a file, and drops it after them. */
export function useDatabase(): TestDatabase {
  // Empty until `beforeAll`, so that it can be a constant. No test runs before that.
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
  });
  afterAll(() => database.drop());
  return database;
}
