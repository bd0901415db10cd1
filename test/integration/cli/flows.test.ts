import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Flow } from '../../../core/flows/flow.ts';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import { createBlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { createFlowFileStore } from '../../../systems/postgres/files/flow-file-store.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();
beforeAll(async () => {
  const hosts = createHostStore(fixture.database.pool);
  await hosts.renew({ hostId: 'host-1', name: 'first', capacity: 4 });
});

describe('flows', () => {
  test('are created with the given options and defaults', async () => {
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
      ...['--instructions-file', fixture.file('instructions.md', 'Be brief.\n'), '--model', 'opus'],
      ...['--network', 'open', '--allow-host', 'example.org:8443', '--allow-host', '*.example.com'],
      ...['--memory', '1.5GiB', '--cpus', '0.5', '--timeout-seconds', '60', '--runner', 'host-1'],
      ...['--max-turns', '12', '--max-budget-usd', '2.50', '--monthly-budget-usd', '99.5'],
    );
    expect(rich).toMatchObject({
      prompt: '-- begin',
      instructions: 'Be brief.\n',
      model: 'opus',
      resources: { memoryBytes: 1.5 * 1024 ** 3, cpus: 0.5 },
      network: { policy: 'open', allowedHosts: ['example.org:8443', '*.example.com'] },
      timeoutSeconds: 60,
      limits: { maxTurns: 12, maxBudgetUsd: 2.5 },
      monthlyBudgetUsd: 99.5,
      runner: 'host-1',
    });
    expect(await flowrun.json('flow', 'show', rich.flowId)).toEqual(rich);
    const update = [
      'flow',
      'update',
      rich.flowId,
      '--max-turns',
      'none',
      '--monthly-budget-usd',
      '0',
    ];
    expect(await flowrun.json<Flow>(...update)).toMatchObject({
      limits: { maxTurns: null, maxBudgetUsd: 2.5 },
      monthlyBudgetUsd: 0,
    });
  });

  test('cannot be bound to an unknown host', async () => {
    const err = expect.stringMatching(
      /The runner is not the ID of a known host.*flowrun host list/,
    );
    const named = ['flow', 'create', '--project', 'shop', '--name', 'Bound'];
    expect(await flowrun(...named, '--runner', 'nope')).toMatchObject({ code: 1, err });
    const { flowId } = await flowrun.json<Flow>(...named, '--runner', 'host-1');
    const update = ['flow', 'update', flowId];
    expect(await flowrun(...update, '--runner', 'nope')).toMatchObject({ code: 1, err });
    const file = ['--config', fixture.file('runner.json', '{"runner":"nope"}')];
    expect(await flowrun(...update, ...file)).toMatchObject({ code: 1, err });
    expect(await flowrun.json<Flow>('flow', 'show', flowId)).toMatchObject({ runner: 'host-1' });
    const none = await flowrun.json<Flow>(...update, ...file, '--runner', 'none');
    expect(none).toMatchObject({ runner: null });
  });

  test('keep fields that an update omits', async () => {
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
    expect(await update('--prompt-file', fixture.file('prompt.txt', 'two'))).toMatchObject({
      prompt: 'two',
    });
  });

  test('accept as many characters as the API, counted as code points', async () => {
    const named = ['flow', 'create', '--project', 'shop', '--name', '😀'.repeat(200)];
    const instructions = (length: number) => fixture.file('long.md', '😀'.repeat(length));
    const { flowId } = await flowrun.json<Flow>(
      ...[...named, '--instructions-file', instructions(100_000)],
    );
    const over = ['flow', 'update', flowId, '--instructions-file', instructions(100_001)];
    expect((await flowrun(...over)).err).toContain('at most 100000 characters');
    const renamed = await flowrun('flow', 'update', flowId, '--name', '😀'.repeat(201));
    expect(renamed.err).toContain('1 to 200 characters');
  });

  test('run automatically by a schedule', async () => {
    const given = ['--project', 'shop', '--name', 'Nightly', '--schedule', '0 3 * * *'];
    expect((await flowrun('flow', 'create', ...given)).err).toContain('requires a prompt');
    const { flowId } = await flowrun.json<Flow>('flow', 'create', ...given, '--prompt', 'Go');
    const update = (...args: string[]) => flowrun.json<Flow>('flow', 'update', flowId, ...args);
    expect((await update('--timezone', 'Europe/Berlin')).schedule).toEqual({
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
    });
    expect((await flowrun('flow', 'update', flowId, '--schedule', 'daily')).code).toBe(2);
    expect((await update('--schedule', 'none')).schedule).toBeNull();
  });

  test('have a schedule that is paused and resumed', async () => {
    const given = ['--project', 'shop', '--name', 'Nightly', '--prompt', 'Go'];
    const { flowId } = await flowrun.json<Flow>('flow', 'create', ...given);
    const set = (verb: string) => flowrun.json<Flow>('schedule', verb, flowId);
    const without = await flowrun('schedule', 'pause', flowId);
    expect(without).toMatchObject({ code: 1, err: 'The flow has no schedule.\n' });
    await flowrun.json('flow', 'update', flowId, '--schedule', '0 3 * * *');
    const { schedulePausedAt } = await set('pause');
    expect(schedulePausedAt).toEqual(expect.any(String));
    expect(await set('pause')).toMatchObject({ schedulePausedAt });
    expect(await set('resume')).toMatchObject({ schedulePausedAt: null, version: 2 });
  });

  test('are archived and restored', async () => {
    const given = ['--project', 'shop', '--name', 'Old'];
    const { flowId } = await flowrun.json<Flow>('flow', 'create', ...given);
    const ids = async (...args: string[]) =>
      (await flowrun.json<Flow[]>('flow', 'list', '--project', 'shop', ...args)).map(
        (flow) => flow.flowId,
      );
    const archived = await flowrun.json<Flow>('flow', 'archive', flowId);
    expect(archived.archivedAt).toEqual(expect.any(String));
    expect(await ids()).not.toContain(flowId);
    expect(await ids('--archived')).toEqual([flowId]);
    const restored = await flowrun.json<Flow>('flow', 'restore', flowId);
    expect(restored).toMatchObject({ archivedAt: null, version: 1 });
  });

  test('have versions that are listed, compared and reverted to', async () => {
    const given = ['--project', 'shop', '--name', 'Versioned', '--prompt', 'one'];
    const { flowId } = await flowrun.json<Flow>('flow', 'create', ...given);
    await flowrun.json('flow', 'update', flowId, '--prompt', 'two');
    const by = expect.stringContaining('@');
    expect(await flowrun.json('flow', 'versions', flowId)).toMatchObject([
      { version: 2, changedBy: by, changedFields: ['prompt'] },
      { version: 1, changedBy: by },
    ]);
    const none = { fileChanges: [], changedSecrets: [] };
    expect(await flowrun.json('flow', 'diff', flowId, '2')).toEqual({
      ...{ fields: [{ field: 'prompt', before: 'one', after: 'two' }], ...none },
    });
    expect(await flowrun.json('flow', 'diff', flowId, '1', '--from', '2')).toEqual({
      ...{ fields: [{ field: 'prompt', before: 'two', after: 'one' }], ...none },
    });
    const reverted = await flowrun.json<Flow>('flow', 'revert', flowId, '1');
    expect(reverted).toMatchObject({ version: 3, prompt: 'one' });
    const missing = await flowrun('flow', 'revert', flowId, '9');
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('no version 9') });
  });

  test('are reverted with their files, or without', async () => {
    const given = ['--project', 'shop', '--name', 'With files', '--prompt', 'one'];
    const { flowId } = await flowrun.json<Flow>('flow', 'create', ...given);
    const { pool } = fixture.database;
    const flowFiles = createFlowFileStore(pool);
    const sha256 = createHash('sha256').update('a').digest('hex');
    await createBlobStore(pool).put(Readable.from([Buffer.from('a')]), { sha256, size: 1 });
    const files = [{ path: 'a.txt', sha256, size: 1, mode: 0o644 }];
    const by = { tags: null, changedBy: 'ci' };
    await flowFiles.replace(flowId, files, by);
    await flowFiles.replace(flowId, [], by);
    expect(await flowrun.json('flow', 'diff', flowId, '3')).toMatchObject({
      fileChanges: [{ path: 'a.txt', status: 'deleted', sizeBefore: 1, sizeAfter: null }],
    });
    await flowrun.json('flow', 'revert', flowId, '2', '--fields-only');
    expect((await flowFiles.list(flowId, {})).files).toEqual([]);
    await flowrun.json('flow', 'revert', flowId, '2');
    expect((await flowFiles.list(flowId, {})).files).toMatchObject(files);

    await flowFiles.replace(flowId, [], by);
    await pool.query('update flows set files_kept_from = files_version where id = $1', [flowId]);
    const shown = await flowrun('flow', 'diff', flowId, '6', '--from', '2');
    expect(shown.err).toContain('no longer kept');
    const refused = await flowrun('flow', 'revert', flowId, '2');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--fields-only') });
    await flowrun.json('flow', 'revert', flowId, '2', '--fields-only');
  });

  test('accept a prompt from standard input', async () => {
    const made = await fixture
      .withInput('from a pipe')
      .json<Flow>(
        ...['flow', 'create', '--project', 'shop', '--name', 'Piped', '--prompt-file', '-'],
      );
    expect(made.prompt).toBe('from a pipe');
  });

  test('are all listed, over several pages', async () => {
    await flowrun.json('project', 'create', 'many');
    const flows = createFlowStore(fixture.database.pool, fixture.sealer);
    for (let count = 1; count <= 201; count++) {
      await flows.create({ projectId: 'many', name: `Flow ${count}` });
    }
    const listed = await flowrun.json<Flow[]>('flow', 'list', '--project', 'many');
    expect(new Set(listed.map(({ flowId }) => flowId)).size).toBe(201);
  });
});
