import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** A database for the tests of a file, made before them and dropped after them. */
export function useDatabase(): TestDatabase {
  // Empty until `beforeAll`, so that it can be a constant; no test runs before that.
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
  });
  afterAll(() => database.drop());
  return database;
}
