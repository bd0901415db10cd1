// Test files share processes. Each file must leave its process as it was, so that no file
// depends on the files before it.

import { afterAll, expect } from 'vitest';
import { watchProcess } from './process-changes.ts';

const changes = watchProcess();

afterAll(() => {
  expect(changes(), 'what this test file has changed in its process').toEqual([]);
});
