// The tables as one reads them after all migrations, in systems/postgres/schema/schema.sql.
// `npm test -- test/integration/systems/postgres/schema-dump.test.ts -u` writes the file. Functions
// are left out, because each is readable in its own file.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { useDatabase } from '../../../support/use-database.ts';

/**
 * Other versions write the same schema differently. The development stack on Debian 12 has this
 * one.
 */
const major = 15;
const committed = fileURLToPath(
  new URL('../../../../systems/postgres/schema/schema.sql', import.meta.url),
);

const pgDump = findPgDump();
const database = useDatabase();

function findPgDump(): string {
  const found = [`/usr/lib/postgresql/${major}/bin/pg_dump`, 'pg_dump'].find((program) => {
    try {
      return execFileSync(program, ['--version'], { encoding: 'utf8' }).includes(` ${major}.`);
    } catch {
      return false;
    }
  });
  if (found === undefined)
    throw new Error(`pg_dump ${major} was not found. Install postgresql-client-${major}.`);
  return found;
}

function dumpSchema(): string {
  const options = ['--schema-only', '--schema=public', '--no-owner', '--no-privileges'];
  const args = [...options, `--dbname=${database.url}`];
  const dump = execFileSync(pgDump, args, { encoding: 'utf8' });
  return dump
    .replaceAll(/^CREATE FUNCTION .*?^\$\w*\$;$/gms, '')
    .replaceAll(/^(?:--|SET |SELECT pg_catalog|\\|CREATE SCHEMA |COMMENT ON SCHEMA ).*$/gm, '')
    .replaceAll(/\n{2,}/g, '\n\n')
    .trimStart();
}

test('the migrations create the tables of schema.sql', async () => {
  expect(existsSync(committed)).toBe(true);
  await expect(dumpSchema()).toMatchFileSnapshot(committed);
});

test('a column that only the database has is in the dump', async () => {
  const before = dumpSchema();
  await database.pool.query('alter table hosts add column unexpected text');
  expect(dumpSchema()).toBe(
    before.replace('report json,\n', 'report json,\n    unexpected text,\n'),
  );
});
