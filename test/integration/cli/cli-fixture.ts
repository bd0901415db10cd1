import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createSealer, type Sealer } from '../../../systems/postgres/admission/seal.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Cli, cliWith } from '../../support/run-cli.ts';

export interface CliFixture {
  flowrun: Cli;
  /** The same, with this text as standard input. */
  withInput: (input: string) => Cli;
  /** The environment of the command line. */
  env: Record<string, string>;
  database: TestDatabase;
  /** With the encryption key of the command line. */
  sealer: Sealer;
  /** The path of a file with this text. */
  file: (name: string, text: string) => string;
  close: () => Promise<void>;
}

/** The command line with a separate database that has the project `shop`. */
export async function openCliFixture(more: Record<string, string> = {}): Promise<CliFixture> {
  const encryptionKey = randomBytes(32);
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-cli-'));
  const key = encryptionKey.toString('base64');
  const env = { DATABASE_URL: database.url, ENCRYPTION_KEY: key, ...more };
  const flowrun = cliWith(env);
  await flowrun.json('project', 'create', 'shop', '--name', 'The shop');
  return {
    flowrun,
    withInput: (input) => cliWith(env, input),
    env,
    database,
    sealer: createSealer(encryptionKey),
    file(name, text) {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** The same in one line: opened before the tests of a file and closed after them. */
export function useCliFixture() {
  // Empty until `beforeAll`, so that it can be a constant; no test runs before that.
  const fixture = {} as CliFixture;
  beforeAll(async () => {
    Object.assign(fixture, await openCliFixture());
  });
  afterAll(() => fixture.close());
  const run = (...args: string[]) => fixture.flowrun(...args);
  const json = <T>(...args: string[]) => fixture.flowrun.json<T>(...args);
  return { fixture, flowrun: Object.assign(run, { json }) };
}
