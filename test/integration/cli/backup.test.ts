import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPool } from '../../../systems/postgres/client/pool.ts';
import { connectRedis, type Redis } from '../../../systems/redis/connect.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { type Cli, cliWith } from '../../support/run-cli.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

const passphrase = 'correct horse battery staple';
const instance = `b-${randomBytes(3).toString('hex')}`;
let fixture: CliFixture;
let empty: TestDatabase;
let redis: Redis;
let flowrun: Cli;
let passphraseFile: string;
let folder: string;

beforeAll(async () => {
  fixture = await openCliFixture({ INSTANCE: instance, REDIS_URL: stackEnv.redisUrl });
  passphraseFile = fixture.file('passphrase', `${passphrase}\n`);
  folder = dirname(passphraseFile);
  redis = connectRedis({ url: stackEnv.redisUrl, name: 'test', onError: () => undefined });
  ({ flowrun } = fixture);
  await flowrun.json('flow', 'create', '--project', 'shop', '--name', 'writer');
});
beforeEach(async () => {
  await empty?.drop();
  empty = await createEmptyDatabase();
});
afterAll(async () => {
  redis?.disconnect();
  await empty?.drop();
  await fixture?.close();
});

/** The command line with another database or key. */
function cliWithEnv(env: Record<string, string> = {}): Cli {
  return cliWith({ ...fixture.env, DATABASE_URL: empty.url, ...env });
}

let made = 0;
async function backUp(...how: string[]): Promise<string> {
  made += 1;
  const file = `${folder}/backup-${made}`;
  await flowrun.json('backup', file, ...(how.length > 0 ? how : ['--without-key']));
  return file;
}

const projects = (cli: Cli) => cli.json<{ projectId: string }[]>('project', 'list');

describe('a backup', () => {
  it('is one file that only its owner can read, and is restored completely', async () => {
    const file = await backUp('--passphrase-file', passphraseFile);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const restored = await cliWithEnv()('restore', file);
    expect(restored).toMatchObject({ code: 0 });
    expect(await projects(cliWithEnv())).toMatchObject([{ projectId: 'shop' }]);
    const flows = ['flow', 'list', '--project', 'shop'];
    expect(await cliWithEnv().json(...flows)).toEqual(await flowrun.json(...flows));
  });

  it('overwrites no file, and leaves no temporary file', async () => {
    const file = fixture.file('mine', 'mine');
    const { code, err } = await flowrun('backup', file, '--without-key');
    expect({ code, err }).toEqual({
      code: 1,
      err: `${file} already exists and is not overwritten.\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('warns that the key is left out, and requires a choice', async () => {
    const { err } = await flowrun('backup', `${folder}/plain`, '--without-key');
    expect(err).toContain('WARNING: the encryption key is not in this backup.');
    const undecided = await flowrun('backup', `${folder}/unsaid`);
    expect(undecided).toMatchObject({ code: 2, out: '' });
    expect(undecided.err).toContain('--passphrase-file or --without-key');
    const short = fixture.file('short', 'short\n');
    const refused = await flowrun('backup', `${folder}/short`, '--passphrase-file', short);
    expect(refused).toMatchObject({ code: 2 });
  });

  it('holds the key sealed; another passphrase does not open it', async () => {
    const file = await backUp('--passphrase-file', passphraseFile);
    const key = fixture.env['ENCRYPTION_KEY'] ?? '';
    expect(readFileSync(file).includes(Buffer.from(key, 'base64'))).toBe(false);
    expect(readFileSync(file).includes(key)).toBe(false);
    const keyFile = `${folder}/key`;
    const takeOut = (from: string) =>
      cliWith({})('restore', file, '--key-to', keyFile, '--passphrase-file', from);
    const wrong = await takeOut(fixture.file('wrong', 'another passphrase'));
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.err).toContain('Wrong passphrase');
    expect(await takeOut(passphraseFile)).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(keyFile, 'utf8').trim()).toBe(key);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  });

  it('requires client programs as new as the server', async () => {
    const bin = `${folder}/bin`;
    mkdirSync(bin);
    for (const name of ['pg_dump', 'pg_restore', 'psql']) {
      writeFileSync(`${bin}/${name}`, '#!/bin/sh\necho "pg_dump (PostgreSQL) 9.6.1"\n');
      chmodSync(`${bin}/${name}`, 0o755);
    }
    const file = `${folder}/too-old`;
    const { code, err } = await cliWithEnv({
      DATABASE_URL: fixture.database.url,
      PATH: bin,
    })('backup', file, '--without-key');
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(err).toMatch(/The newest pg_dump here is of Postgres 9, the server is \d+\./);
    expect(readdirSync(folder)).not.toContain('too-old');
    const nowhere = cliWithEnv({ DATABASE_URL: fixture.database.url, PATH: '/nowhere' });
    const { err: missing } = await nowhere('backup', file, '--without-key');
    expect(missing).toContain('pg_dump, pg_restore and psql are not on the PATH.');
  });
});

describe('a restore', () => {
  it('refuses a non-empty database without --replace', async () => {
    const file = await backUp();
    expect((await cliWithEnv()('migrate')).code).toBe(0);
    await cliWithEnv().json('project', 'create', 'other');
    const refused = await cliWithEnv()('restore', file);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('The database is not empty.');
    expect(await projects(cliWithEnv())).toMatchObject([{ projectId: 'other' }]);
    expect((await cliWithEnv()('restore', file, '--replace')).code).toBe(0);
    expect(await projects(cliWithEnv())).toMatchObject([{ projectId: 'shop' }]);
  });

  it.each(['api', 'worker'])('refuses while a running %s is connected', async (name) => {
    const file = await backUp();
    const applicationName = `${instance}-${name}`;
    const pool = createPool(empty.url, { applicationName, max: 1 });
    // An idle connection would be closed after a while.
    const held = await pool.connect();
    const { code, err } = await cliWithEnv()('restore', file);
    held.release();
    await pool.end();
    expect({ code, err }).toEqual({
      code: 1,
      err: `The service is running (${applicationName}): stop it first.\n`,
    });
  });

  it('refuses a different encryption key', async () => {
    const file = await backUp();
    const ENCRYPTION_KEY = randomBytes(32).toString('base64');
    const { code, err } = await cliWithEnv({ ENCRYPTION_KEY })('restore', file);
    expect(code).toBe(1);
    expect(err).toContain('ENCRYPTION_KEY is not the key of this backup');
  });

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, -100), 'is damaged'],
    ['changed in one bit', flipped, 'is damaged'],
    ['something else', () => Buffer.from('PGDMP'), 'is not a backup of this service'],
  ])('does not start with a file that is %s', async (_, damage, words) => {
    const file = await backUp();
    const damaged = `${file}-damaged`;
    writeFileSync(damaged, damage(readFileSync(file)));
    const { code, err } = await cliWithEnv()('restore', damaged);
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(err).toContain(words);
    const { rows } = await empty.pool.query(`select to_regclass('runs') as runs`);
    expect(rows).toEqual([{ runs: null }]);
  });

  it('changes nothing if it fails half-way', async () => {
    const { pool } = fixture.database;
    await pool.query('alter function record_restore rename to away');
    const file = await backUp();
    await pool.query('alter function away rename to record_restore');
    expect((await cliWithEnv()('migrate')).code).toBe(0);
    await cliWithEnv().json('project', 'create', 'other');
    const { code, err } = await cliWithEnv()('restore', file, '--replace');
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(err).toContain('record_restore');
    expect(await projects(cliWithEnv())).toMatchObject([{ projectId: 'other' }]);
  });

  it('deletes the runs of this instance only from Redis', async () => {
    const file = await backUp();
    const ours = `frs:${instance}:run:x:frames`;
    const theirs = `frs:${instance}2:run:x:frames`;
    await expect.poll(() => redis.status).toBe('ready');
    for (const key of [ours, theirs]) await redis.set(key, 'x', 'EX', 60);
    expect((await cliWithEnv()('restore', file)).code).toBe(0);
    expect(await redis.exists(ours)).toBe(0);
    expect(await redis.del(theirs)).toBe(1);
  });

  it('changes nothing while Redis is down', async () => {
    const file = await backUp();
    const REDIS_URL = 'redis://127.0.0.1:1';
    const { code, err } = await cliWithEnv({ REDIS_URL })('restore', file);
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(err).toContain('Redis cannot be reached');
    const { rows } = await empty.pool.query(`select to_regclass('runs') as runs`);
    expect(rows).toEqual([{ runs: null }]);
  });

  it('rejects sign-in links and sessions from before the backup', async () => {
    await flowrun.json('operator', 'add', 'ana');
    const file = await backUp();
    expect((await cliWithEnv()('restore', file)).code).toBe(0);
    const text =
      'select (select count(*) from operators) as operators, count(*) as links from operator_links';
    expect((await empty.pool.query(text)).rows).toEqual([{ operators: 1, links: 0 }]);
  });
});

function flipped(bytes: Buffer): Buffer {
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  return bytes;
}
