// A database whose tables were created by the migrations of an earlier commit.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import { EarlierDataError } from '../../../systems/postgres/schema/earlier-data.ts';
import { migrate } from '../../../systems/postgres/schema/migrate.ts';
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../support/database.ts';
import { cliWith } from '../../support/run-cli.ts';
import { serviceProcess } from '../../support/service-process.ts';
import { stackEnv } from '../../support/stack-env.ts';

let database: TestDatabase;
let logDir: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createEmptyDatabase();
  logDir = mkdtempSync(join(tmpdir(), 'earlier-'));
  const port = await freePort();
  await database.pool.query(`
    create table migrations (id serial primary key, name varchar(255), run_on timestamp);
    insert into migrations (name, run_on) values ('001_projects', now()), ('002_runs', now());
    create table projects (id text primary key);
    insert into projects values ('kept')`);
  env = {
    INSTANCE: 'earlier',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    REDIS_URL: stackEnv.redisUrl,
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    DOCKER_HOST: stackEnv.dockerHost,
    SANDBOX_IMAGE: stackEnv.scriptedImage,
    DATA_DIR: logDir,
    API_PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'sk-test',
  };
});

afterAll(async () => {
  expect((await database.pool.query('select id from projects')).rows).toEqual([{ id: 'kept' }]);
  await database.drop();
  rmSync(logDir, { recursive: true });
});

const sentence =
  /was created by an earlier commit.*to .*start over, run `.*(?:npm run stop|down -v)/;

describe('data of an earlier commit stops', () => {
  test.each([
    ['migrate'],
    ['project', 'list'],
    ['doctor'],
    ['backup', '/dev/null', '--without-key'],
  ])('flowrun %s', async (...args) => {
    const { code, out, err } = await cliWith(env)(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test.each(['api', 'worker'])('the %s', async (name) => {
    const program = `${name}/main.js`;
    const started = serviceProcess({ name, program, env, logDir, ready: () => false });
    await expect(started.start()).rejects.toThrow(sentence);
    expect(await started.exited()).toEqual({ code: 1, signal: null });
  });

  test('the demo, without a stack trace', async () => {
    const { API_PORT: port = '', ...servers } = env;
    const child = spawn(process.execPath, [join(repository, 'dev/demo/main.ts')], {
      env: { ...process.env, ...servers, FLOWRUN_API_PORT: port, FLOWRUN_DATA: logDir },
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    expect(out).toContain('service        failed');
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(/deploy\/command-line.ts ended with 1$/),
      expect.stringMatching(sentence),
    ]);
  });
});

describe('migrating', () => {
  test('refuses a baseline with other tables under the same name', async () => {
    const changed = await createTestDatabase();
    await changed.pool.query(`update migrations set sha256 = 'other'`);
    await expect(migrate(changed.url)).rejects.toThrow(EarlierDataError);
    await changed.drop();
  });

  test('accepts data of a later version', async () => {
    const later = await createTestDatabase();
    await later.pool.query(`insert into migrations (name, sha256) values ('999_later', '')`);
    await migrate(later.url);
    await later.drop();
  });
});
