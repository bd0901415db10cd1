import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { formatError } from '../../../cli/format-error.ts';
import { createPool } from '../../../systems/postgres/client/pool.ts';

const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => null,
    (error: unknown) => error,
  );

test('a missing file is not reported as an unreachable Postgres', async () => {
  const { message, exitCode } = formatError(await errorOf(readFile('/nowhere/backup')));
  expect(exitCode).toBe(1);
  expect(message).toContain("ENOENT: no such file or directory, open '/nowhere/backup'");
  expect(message).not.toMatch(/Postgres|DATABASE_URL/);
});

test('a missing socket is reported as an unreachable Postgres', async () => {
  const pool = createPool('postgres://a@/flowrun?host=/nowhere', {
    applicationName: 'test',
    max: 1,
  });
  const { message } = formatError(await errorOf(pool.query('select 1')));
  await pool.end();
  expect(message).toMatch(/^Postgres cannot be reached: .*ENOENT/);
});
