import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { type Cli, cliWith } from '../../support/run-cli.ts';
import { inThisProcess } from './in-this-process.ts';

const encryptionKey = randomBytes(32).toString('base64');
const unknownId = '5b0d3f5e-4a51-4d0e-9a53-000000000001';
let database: TestDatabase;
let flowrun: Cli;

beforeAll(async () => {
  database = await createEmptyDatabase();
  flowrun = cliWith({ DATABASE_URL: database.url, ENCRYPTION_KEY: encryptionKey });
});

afterAll(() => database.drop());

test('a database without a schema is recognized, and migrated', async () => {
  const before = await flowrun('project', 'list');
  expect(before).toMatchObject({ code: 1, out: '' });
  expect(before.err).toContain('run `flowrun migrate`');
  expect((await flowrun('migrate')).code).toBe(0);
  expect(await flowrun('project', 'list')).toEqual({ code: 0, out: '(none)\n', err: '' });
  await flowrun.json('project', 'create', 'shop');
});

describe('a failed command exits with 1 and the reason', () => {
  test.each([
    [['project', 'create', 'shop'], 'The project shop already exists.'],
    [['project', 'set', 'shopp', '--max-concurrent-runs', '1'], 'No such project: shopp.'],
    [['project', 'webhook-secret', 'shopp'], 'No such project: shopp.'],
    [['flow', 'create', '--project', 'shopp', '--name', 'x'], 'No such project: shopp.'],
    [['flow', 'show', unknownId], `No such flow: ${unknownId}.`],
    [['flow', 'update', unknownId, '--name', 'x'], `No such flow: ${unknownId}.`],
    [['key', 'create', '--project', 'shopp', '--name', 'x'], 'No such project: shopp.'],
    [['key', 'revoke', unknownId], `No such key: ${unknownId}.`],
  ])('%j', async (args, message) => {
    expect(await flowrun(...args)).toEqual({ code: 1, out: '', err: `${message}\n` });
  });
});

describe('wrong usage exits with 2 and the expected usage', () => {
  const flow = ['flow', 'create', '--project', 'shop', '--name', 'x'];
  const key = ['key', 'create', '--project', 'shop', '--name', 'x'];
  test.each([
    [['unknown'], "unknown command 'unknown'"],
    [['project', 'create'], "missing required argument 'project'"],
    [['project', 'create', 'a/b'], 'Expected 1 to 64 letters'],
    [['project', 'set', 'shop', '--max-concurrent-runs', '-1'], 'a whole number from 0'],
    [['project', 'set', 'shop', '--monthly-run-quota', 'many'], 'a whole number from 0'],
    [
      ['project', 'set', 'shop', '--storage-quota-bytes', '1125899906842625'],
      'a whole number from 0 to 1125899906842624',
    ],
    [['flow', 'create', '--name', 'x'], "required option '--project <project>' not specified"],
    [[...flow, '--memory', '2G'], 'like 2GiB'],
    [[...flow, '--memory', '255MiB'], 'like 2GiB'],
    [[...flow, '--cpus', '0'], 'from 0.1 to 256'],
    [[...flow, '--network', 'all'], 'Allowed choices are limited, open, none'],
    [[...flow, '--allow-host', 'https://x'], 'Expected a host'],
    [[...flow, '--timeout-seconds', '86401'], 'from 1 to 86400'],
    [[...flow, '--model=--settings'], 'the name of a model'],
    [[...flow, '--prompt', ''], 'Expected 1 to 1048576 bytes'],
    [[...flow, '--prompt', 'x', '--prompt-file', '/etc/hostname'], 'cannot be used with option'],
    [[...flow, '--instructions-file', '/nowhere/x'], 'Cannot be read: ENOENT'],
    [['flow', 'show', 'x'], 'Expected a UUID'],
    [[...key, '--rpm', '0'], 'from 1 to 10000'],
    [[...key, '--rpm', '10001'], 'from 1 to 10000'],
    [[...key, '--expires', '2001-01-01'], 'Expected a date in the future'],
    [[...key, '--expires', 'soon'], 'Expected a date in the future'],
  ])('%j', async (args, message) => {
    const { code, err } = await inThisProcess(args);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  test('also as a process', async () => {
    const { code, out, err } = await flowrun('project', 'create', 'a/b');
    expect(err).toContain('Expected 1 to 64 letters');
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});

describe('contradicting or missing options are wrong usage', () => {
  const keyFile = ['--own-model-key-file', '/etc/hostname'];
  const address = ['--own-model-base-url', 'https://m.test'];
  const phrase = ['--passphrase-file', '/proc/sys/kernel/random/uuid'];
  const create = ['flow', 'create', '--project', 'shop'];
  const update = ['flow', 'update', unknownId];
  const set = ['project', 'set', 'shop'];
  test.each([
    [[], 'Usage: flowrun'],
    [['flow'], 'Usage: flowrun flow'],
    [['flow', 'show', unknownId, unknownId], 'too many arguments'],
    [['host', 'list', '--draining'], "unknown option '--draining'"],
    [['migrate', 'now'], 'too many arguments'],
    [['doctor', '--fix', 'api'], 'too many arguments'],
    [['operator', 'add'], "missing required argument 'name'"],
    [create, 'a flow needs a name'],
    [[...create, '--name', 'x', '--timezone', 'UTC'], 'needs a schedule'],
    [
      [...create, '--name', 'x', '--schedule', 'none', '--timezone', 'UTC'],
      'cannot be used with --schedule none',
    ],
    [[...create, '--name', 'x', '--schedule', '0 3 * * *'], 'schedule: requires a prompt'],
    [[...create, '--name', 'x', '--prompt', 'x', '--schedule', 'daily'], 'schedule.cron: must'],
    [update, 'Nothing to update. Pass at least one option (see `flowrun flow update --help`'],
    [[...update, '--json'], 'Nothing to update'],
    [[...update, '--schedule', 'none', '--timezone', 'UTC'], 'cannot be used with --schedule none'],
    [[...update, '--prompt', 'x', '--prompt-file', '/etc/hostname'], 'cannot be used with'],
    [set, 'Nothing to update. Pass at least one option (see `flowrun project set --help`'],
    [[...set, ...keyFile], 'must be used together'],
    [[...set, ...address], 'must be used together'],
    [[...set, '--own-model-key-file', 'none', ...address], 'must be used together'],
    [['key', 'create', '--project', 'shop'], "required option '--name <text>' not specified"],
    [['backup', '/nowhere/x'], 'Pass either --passphrase-file or'],
    [['backup', '/nowhere/x', '--without-key', ...phrase], 'Pass either --passphrase-file or'],
    [['restore', '/nowhere/x', '--key-to', '/nowhere/key'], 'must be used together'],
    [['restore', '/nowhere/x', ...phrase], 'must be used together'],
    [
      ['restore', '/nowhere/x', '--key-to', '/nowhere/key', ...phrase, '--replace'],
      'cannot be used with --replace',
    ],
  ])('%j', async (args, message) => {
    vi.stubEnv('DATABASE_URL', database.url);
    vi.stubEnv('ENCRYPTION_KEY', encryptionKey);
    const { code, err } = await inThisProcess(args);
    vi.unstubAllEnvs();
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  test('standard input for two options', async () => {
    const piped = cliWith({ DATABASE_URL: database.url, ENCRYPTION_KEY: encryptionKey }, 'Hello.');
    const { code, err } = await piped(...update, '--prompt-file', '-', '--instructions-file', '-');
    expect([code, err]).toEqual([2, expect.stringContaining('already read for another option')]);
  });
});

describe('the address of the database', () => {
  test('nothing configured', async () => {
    const { code, err } = await cliWith({})('project', 'list');
    expect(code).toBe(1);
    expect(err).toContain('No database is configured: DATABASE_URL is not set.');
    expect(err).toContain('npm start');
  });

  test('half configured', async () => {
    const { code, err } = await cliWith({ DATABASE_URL: database.url })('project', 'list');
    expect(code).toBe(1);
    expect(err).toContain('ENCRYPTION_KEY is not set: expected 32 bytes in base64');
  });

  test('an address without a server', async () => {
    const nowhere = cliWith({
      DATABASE_URL: 'postgres://user:canary@127.0.0.1:1/flowrun',
      ENCRYPTION_KEY: encryptionKey,
    });
    for (const args of [['project', 'list'], ['migrate']]) {
      const { code, err } = await nowhere(...args);
      expect(code).toBe(1);
      expect(err).toContain('Postgres cannot be reached: connect ECONNREFUSED 127.0.0.1:1');
      expect(err).not.toContain('canary');
    }
  });

  test('taken from the local stack if nothing is configured', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'flowrun-stack-'));
    mkdirSync(join(folder, 'demo'));
    const stack = { DATABASE_URL: database.url, ENCRYPTION_KEY: encryptionKey, INSTANCE: 'demo' };
    writeFileSync(join(folder, 'demo/stack.json'), JSON.stringify(stack));
    try {
      expect((await cliWith({ FLOWRUN_DATA: folder })('project', 'list')).code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
