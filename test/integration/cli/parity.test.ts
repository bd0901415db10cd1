// The operators' API and the command line have the same limits for projects, flows and keys. Both
// reject the same values, with the same messages if they read the same fields.

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type OperatorClient, signedIn } from '../api/operators/operator-client.ts';
import { refusedFlows } from '../api/operators/refused-flows.ts';
import { useTenant } from '../api/use-api.ts';
import { inThisProcess } from './in-this-process.ts';

const { fixture, api, tenant } = useTenant();
const folder = mkdtempSync(join(tmpdir(), 'flowrun-parity-'));
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
  vi.stubEnv('DATABASE_URL', fixture.database.url);
  vi.stubEnv('ENCRYPTION_KEY', randomBytes(32).toString('base64'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** The options for these fields of a flow. */
function config(fields: object): string[] {
  const path = join(folder, `${randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(fields));
  return ['--config', path];
}

async function decided(): Promise<unknown> {
  const { projectId } = tenant;
  return {
    flows: await fixture.stores.flows.listByProject(projectId, { limit: 200, maxBytes: 1_000_000 }),
    projects: await fixture.stores.projects.list(),
    keys: (await fixture.stores.keys.page(projectId, { limit: 200 })).keys.map(
      ({ keyId }) => keyId,
    ),
  };
}

const ofFields = (message: string): string => message.replaceAll(/(^|; )body\./g, '$1');

test.each(refusedFlows)('both reject the same flow: %j', async (given) => {
  const before = await decided();
  const { projectId, flowId } = tenant;
  const fields = { name: 'A flow', ...given };
  const flows = `/api/projects/${projectId}/flows`;
  const made = await operator(flows, { body: fields });
  const changed = await operator(`${flows}/${flowId}`, { method: 'PATCH', body: given });
  expect([made.status, changed.status]).toEqual([400, 400]);
  const create = await inThisProcess(['flow', 'create', '--project', projectId, ...config(fields)]);
  const update = await inThisProcess(['flow', 'update', flowId, ...config(given)]);
  expect(create).toEqual({ code: 2, err: `${ofFields(made.json.error.message)}\n` });
  expect(update).toEqual({ code: 2, err: `${ofFields(changed.json.error.message)}\n` });
  expect(await decided()).toEqual(before);
});

const tooLong = 'n'.repeat(201);
const tooMany = String(1_000_001);

test.each([
  ['a project without an id', '/api/projects', { projectId: '' }, ['project', 'create', '']],
  ['an id with a slash', '/api/projects', { projectId: 'a/b' }, ['project', 'create', 'a/b']],
  [
    'an id of 65',
    '/api/projects',
    { projectId: 'p'.repeat(65) },
    ['project', 'create', 'p'.repeat(65)],
  ],
  [
    'a project with a name of 201 characters',
    '/api/projects',
    { projectId: 'p', name: tooLong },
    ['project', 'create', 'p', '--name', tooLong],
  ],
  [
    'more concurrent runs than permitted',
    '/api/projects',
    { projectId: 'p', maxConcurrentRuns: Number(tooMany) },
    ['project', 'create', 'p', '--max-concurrent-runs', tooMany],
  ],
  [
    'half a run a month',
    '/api/projects',
    { projectId: 'p', monthlyRunQuota: 0.5 },
    ['project', 'create', 'p', '--monthly-run-quota', '0.5'],
  ],
  [
    'a monthly budget below 0',
    '/api/projects',
    { projectId: 'p', monthlyBudgetUsd: -1 },
    ['project', 'create', 'p', '--monthly-budget-usd=-1'],
  ],
  ...settingsAndKeys(),
])('%s is refused by both, and changes nothing', async (_what, path, body, args) => {
  const before = await decided();
  const at = path.replace(':project', tenant.projectId);
  const method = at.endsWith('/settings') ? 'PATCH' : 'POST';
  const { status, json } = await operator(at, { method, body });
  expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  const line = args.map((word) => word.replace(':project', tenant.projectId));
  const { code, err } = await inThisProcess(line);
  expect(code).toBe(2);
  expect(err).not.toBe('');
  expect(await decided()).toEqual(before);
});

function settingsAndKeys(): [what: string, path: string, body: object, args: string[]][] {
  const settings = '/api/projects/:project/settings';
  const keys = '/api/projects/:project/keys';
  const set = (...options: string[]) => ['project', 'set', ':project', ...options];
  const create = (...options: string[]) => ['key', 'create', '--project', ':project', ...options];
  const baseUrl = 'https://m.test:99999';
  const keyFile = join(folder, 'model-key');
  writeFileSync(keyFile, 'sk-canary');
  const own = ['--own-model-key-file', keyFile];
  return [
    ['a cap below none', settings, { maxConcurrentRuns: -1 }, set('--max-concurrent-runs=-1')],
    [
      'more sessions than permitted',
      settings,
      { maxOpenSessions: Number(tooMany) },
      set('--max-open-sessions', tooMany),
    ],
    [
      'a negative storage quota',
      settings,
      { storageQuotaBytes: -1 },
      set('--storage-quota-bytes=-1'),
    ],
    ['no cap', settings, { maxConcurrentRuns: null }, set('--max-concurrent-runs', 'none')],
    ['a name of nothing', settings, { name: '' }, set('--name', '')],
    [
      'a model at no address',
      settings,
      { model: { apiKey: 'sk-canary', baseUrl } },
      set(...own, '--own-model-base-url', baseUrl),
    ],
    ['a model’s key alone', settings, { model: { apiKey: 'sk-canary' } }, set(...own)],
    ['a key of no name', keys, { name: '' }, create('--name', '')],
    ['a key with a name of 201', keys, { name: tooLong }, create('--name', tooLong)],
    ['no call a minute', keys, { name: 'k', rateLimitRpm: 0 }, create('--name', 'k', '--rpm', '0')],
    [
      '10 001 calls a minute',
      keys,
      { name: 'k', rateLimitRpm: 10_001 },
      create('--name', 'k', '--rpm', '10001'),
    ],
    [
      'a key with a monthly budget below 0',
      keys,
      { name: 'k', monthlyBudgetUsd: -1 },
      create('--name', 'k', '--monthly-budget-usd=-1'),
    ],
    [
      'a key with an unknown scope',
      keys,
      { name: 'k', scopes: ['read', 'write'] },
      create('--name', 'k', '--scope', 'read', '--scope', 'write'),
    ],
    [
      'a key that has ended',
      keys,
      { name: 'k', expiresAt: '2001-01-01T00:00:00Z' },
      create('--name', 'k', '--expires', '2001-01-01'),
    ],
    [
      'a key with an invalid expiry',
      keys,
      { name: 'k', expiresAt: 'soon' },
      create('--name', 'k', '--expires', 'soon'),
    ],
  ];
}
