import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Flow } from '../../core/flow.ts';
import { createFlowStore } from '../../systems/postgres/flow-store.ts';
import { createKeyStore, type KeyRecord } from '../../systems/postgres/key-store.ts';
import type { Project } from '../../systems/postgres/project-store.ts';
import { createSealer } from '../../systems/postgres/seal.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Cli, cliWith } from './run-cli.ts';

const encryptionKey = randomBytes(32);
let database: TestDatabase;
let folder: string;
let flowrun: Cli;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'flowrun-cli-'));
  flowrun = cliWith({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
  });
  await flowrun.json('project', 'create', 'shop', '--name', 'The shop');
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

describe('projects', () => {
  test('are made, changed and listed', async () => {
    const made = await flowrun.json<Project>('project', 'create', 'news');
    expect(made).toMatchObject({
      projectId: 'news',
      name: 'news',
      maxConcurrentRuns: 10,
      monthlyRunQuota: null,
    });
    const set = (...args: string[]) => flowrun.json<Project>('project', 'set', 'news', ...args);
    expect(await set('--max-concurrent-runs', '3', '--monthly-run-quota', '100')).toMatchObject({
      maxConcurrentRuns: 3,
      monthlyRunQuota: 100,
    });
    expect(await set('--monthly-run-quota', 'none')).toMatchObject({
      maxConcurrentRuns: 3,
      monthlyRunQuota: null,
    });
    const all = await flowrun.json<Project[]>('project', 'list');
    expect(all.map(({ projectId }) => projectId)).toEqual(['shop', 'news']);
  });

  test('have one webhook secret', async () => {
    const secret = await flowrun.json('project', 'webhook-secret', 'shop');
    expect(secret).toEqual({ webhookSecret: expect.stringMatching(/^\S{20,}$/) });
    expect(await flowrun.json('project', 'webhook-secret', 'shop')).toEqual(secret);
  });

  test('are printed for people too', async () => {
    const { out } = await flowrun('project', 'list');
    expect(out).toMatch(/^PROJECT ID {2,}NAME {2,}MAX CONCURRENT RUNS/);
    expect(out).toMatch(/\nshop {2,}The shop {2,}10 {2,}/);
  });
});

describe('flows', () => {
  test('are made with what was said, and the usual for the rest', async () => {
    const made = await flowrun.json<Flow>('flow', 'create', '--project', 'shop', '--name', 'Plain');
    expect(made).toMatchObject({
      projectId: 'shop',
      name: 'Plain',
      prompt: null,
      instructions: null,
      model: null,
      resources: { memoryBytes: 2 * 1024 ** 3, cpus: 1 },
      network: { policy: 'limited', allowedHosts: [] },
      timeoutSeconds: null,
      runner: null,
      version: 1,
    });
    const rich = await flowrun.json<Flow>(
      ...['flow', 'create', '--project', 'shop', '--name', 'Rich', '--prompt', '-- begin'],
      ...['--instructions-file', file('instructions.md', 'Be brief.\n'), '--model', 'opus'],
      ...['--network', 'open', '--allow-host', 'example.org:8443', '--allow-host', '*.example.com'],
      ...['--memory', '1.5GiB', '--cpus', '0.5', '--timeout-seconds', '60', '--runner', 'host-1'],
    );
    expect(rich).toMatchObject({
      prompt: '-- begin',
      instructions: 'Be brief.\n',
      model: 'opus',
      resources: { memoryBytes: 1.5 * 1024 ** 3, cpus: 0.5 },
      network: { policy: 'open', allowedHosts: ['example.org:8443', '*.example.com'] },
      timeoutSeconds: 60,
      runner: 'host-1',
    });
    expect(await flowrun.json('flow', 'show', rich.flowId)).toEqual(rich);
  });

  test('keep what an update does not speak of', async () => {
    const { flowId } = await flowrun.json<Flow>(
      ...['flow', 'create', '--project', 'shop', '--name', 'Changing', '--prompt', 'one'],
      ...['--memory', '512MiB', '--allow-host', 'example.org', '--timeout-seconds', '60'],
    );
    const update = (...args: string[]) => flowrun.json<Flow>('flow', 'update', flowId, ...args);
    const changed = await update('--cpus', '2', '--network', 'none', '--timeout-seconds', 'none');
    expect(changed).toMatchObject({
      name: 'Changing',
      prompt: 'one',
      resources: { memoryBytes: 512 * 1024 ** 2, cpus: 2 },
      network: { policy: 'none', allowedHosts: ['example.org'] },
      timeoutSeconds: null,
      version: 2,
    });
    expect(await update('--prompt-file', file('prompt.txt', 'two'))).toMatchObject({
      prompt: 'two',
    });
  });

  test('take a prompt from standard input', async () => {
    const withInput = cliWith(
      { DATABASE_URL: database.url, ENCRYPTION_KEY: encryptionKey.toString('base64') },
      'from a pipe',
    );
    const made = await withInput.json<Flow>(
      ...['flow', 'create', '--project', 'shop', '--name', 'Piped', '--prompt-file', '-'],
    );
    expect(made.prompt).toBe('from a pipe');
  });

  test('are all listed, however many there are', async () => {
    await flowrun.json('project', 'create', 'many');
    const flows = createFlowStore(database.pool, createSealer(encryptionKey));
    for (let count = 1; count <= 201; count++) {
      await flows.create({ projectId: 'many', name: `Flow ${count}` });
    }
    const listed = await flowrun.json<Flow[]>('flow', 'list', '--project', 'many');
    expect(new Set(listed.map(({ flowId }) => flowId)).size).toBe(201);
  });
});

describe('keys', () => {
  test('are shown once, alone on standard output, and work', async () => {
    const { out, err, code } = await flowrun('key', 'create', '--project', 'shop', '--name', 'ci');
    expect(code).toBe(0);
    expect(out).toMatch(/^frs_[0-9A-Za-z]{43}\n$/);
    expect(err).toContain('not shown again');
    const found = await createKeyStore(database.pool).findByKey(out.trim());
    expect(found).toMatchObject({
      projectId: 'shop',
      name: 'ci',
      state: 'active',
      rateLimitRpm: 60,
    });
    const listed = await flowrun('key', 'list', '--project', 'shop');
    expect(listed.out).toContain(out.slice(0, 12));
    expect(listed.out).not.toContain(out.trim());
  });

  test('have an owner, a rate and an end, and can be revoked', async () => {
    const { keyId } = await flowrun.json<KeyRecord & { key: string }>(
      ...['key', 'create', '--project', 'shop', '--name', 'deploy', '--created-by', 'ana'],
      ...['--rpm', '10000', '--expires', '2099-01-31T12:00:00Z'],
    );
    const revoked = await flowrun.json<KeyRecord>('key', 'revoke', keyId);
    expect(revoked).toMatchObject({
      createdBy: 'ana',
      rateLimitRpm: 10_000,
      expiresAt: '2099-01-31T12:00:00.000Z',
      state: 'revoked',
    });
    expect(await flowrun.json('key', 'revoke', keyId)).toEqual(revoked);
  });
});

test('migrating what is migrated changes nothing', async () => {
  expect(await flowrun('migrate')).toEqual({
    code: 0,
    out: 'The schema is up to date.\n',
    err: '',
  });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
