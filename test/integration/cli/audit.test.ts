// Entries in the audit log for changes by the command line and by settings.

import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { logFirstSignInLink } from '../../../api/operators/sign-in/first-sign-in.ts';
import { createLogger } from '../../../config/logger.ts';
import { createAuditLog } from '../../../systems/postgres/accounts/audit-log.ts';
import type { KeyRecord } from '../../../systems/postgres/accounts/key-row.ts';
import type { Project } from '../../../systems/postgres/accounts/project-store.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { cliWith } from '../../support/run-cli.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();

const here = `${userInfo().username}@${hostname()}`;

/** Oldest first. */
async function entries(after = 0) {
  const log = createAuditLog(fixture.database.pool, fixture.sealer);
  return (await log.page({ limit: 200 })).entries.toReversed().slice(after);
}

// Thirty processes, one after another.
test('each change by the command line has one entry', { timeout: 180_000 }, async () => {
  const before = (await entries()).length;
  const changes = [
    ['project', 'create', 'depot', '--name', 'canary', '--max-concurrent-runs', '3'],
    ['project', 'set', 'depot', '--max-concurrent-runs', '4'],
    ['project', 'webhook-secret', 'depot', '--next'],
    ['project', 'webhook-secret', 'depot', '--next'],
    ['project', 'webhook-secret', 'depot', '--rotate'],
    ['project', 'webhook-secret', 'depot', '--rotate', '--now'],
    ['operator', 'add', 'ana'],
    ['token', 'create', '--operator', 'ana', '--name', 'ci'],
    ['operator', 'remove', 'ana'],
    ['project', 'create', 'depot'],
    ['operator', 'remove', 'ana'],
  ];
  for (const change of changes) await flowrun(...change);
  const { keyId } = await flowrun.json<KeyRecord>(
    'key',
    'create',
    '--project',
    'depot',
    '--name',
    'k',
  );
  await flowrun('key', 'revoke', keyId);
  await flowrun('key', 'revoke', keyId);
  const flow = ['--name', 'f', '--prompt', 'canary'];
  const { flowId } = await flowrun.json<{ flowId: string }>(
    ...['flow', 'create', '--project', 'depot', ...flow],
  );
  await flowrun('flow', 'update', flowId, '--prompt', 'another canary', '--schedule', '0 3 * * *');
  for (const verb of ['pause', 'pause', 'resume']) await flowrun('schedule', verb, flowId);
  for (const verb of ['archive', 'archive', 'restore']) await flowrun('flow', verb, flowId);
  await createHostStore(fixture.database.pool).renew({ hostId: 'h1', name: 'h1', capacity: 1 });
  await flowrun('host', 'drain', 'h1');
  await flowrun('host', 'undrain', 'h1');

  const found = await entries(before);
  expect(found.map(({ action }) => action)).toEqual([
    'project_created',
    'settings_changed',
    'webhook_secret_prepared',
    'webhook_secret_rotated',
    'webhook_secret_replaced',
    'operator_invited',
    'token_created',
    'operator_removed',
    'key_created',
    'key_revoked',
    'flow_created',
    'flow_changed',
    'schedule_paused',
    'schedule_resumed',
    'flow_archived',
    'flow_restored',
    'host_drained',
    'host_undrained',
  ]);
  const byCommand = { source: 'command_line', operatorId: null, operator: null, address: here };
  for (const entry of found)
    expect(entry).toMatchObject({ ...byCommand, tokenId: null, requestId: null });
  expect(found[0]).toMatchObject({
    projectId: 'depot',
    fieldsBefore: [],
    fieldsAfter: ['maxConcurrentRuns', 'name', 'projectId'],
  });
  expect(found.find(({ action }) => action === 'flow_changed')).toMatchObject({
    objectId: flowId,
    fieldsAfter: ['prompt', 'schedule'],
  });
  expect(JSON.stringify(found)).not.toContain('canary');
});

test('a project is archived and restored with one entry each', async () => {
  const before = (await entries()).length;
  const archived = await flowrun.json<Project>('project', 'archive', 'shop');
  expect(archived.archivedAt).toEqual(expect.any(String));
  await flowrun('project', 'archive', 'shop');
  expect(await flowrun.json('project', 'list', '--archived')).toEqual([archived]);
  const restored = await flowrun.json<Project>('project', 'restore', 'shop');
  expect(restored.archivedAt).toBeNull();
  const actions = (await entries(before)).map(({ action }) => action);
  expect(actions).toEqual(['project_archived', 'project_restored']);
});

test('what settings create at the first start has one entry each', async () => {
  const before = (await entries()).length;
  const env = {
    INIT_PROJECT: 'office',
    INIT_FLOW: JSON.stringify({ name: 'writer', prompt: 'Go', network: { policy: 'none' } }),
    INIT_API_KEY: `frs_${'Audit'.repeat(8)}abc`,
  };
  for (let start = 0; start < 2; start += 1)
    expect(await cliWith({ ...fixture.env, ...env })('migrate')).toMatchObject({ code: 0 });
  const found = await entries(before);
  const actions = ['project_created', 'flow_created', 'key_created'];
  expect(found).toMatchObject(
    actions.map((action) => ({ action, source: 'settings', projectId: 'office', address: here })),
  );
  expect(JSON.stringify(found)).not.toContain('Audit');
});

test('the first operator has one entry over all starts', async () => {
  await fixture.database.pool.query('delete from operators');
  const before = (await entries()).length;
  const logger = createLogger({ level: 'warn', name: 'api' }, { write: () => undefined });
  const audit = createAuditLog(fixture.database.pool, fixture.sealer);
  const start = () =>
    logFirstSignInLink(
      { audit, publicUrl: 'http://a', firstOperator: 'eva', logger },
      new AbortController().signal,
    );
  await Promise.all(Array.from({ length: 10 }, start));
  const expected = { action: 'operator_invited', source: 'settings', operator: null };
  expect(await entries(before)).toMatchObject([expected]);
});
