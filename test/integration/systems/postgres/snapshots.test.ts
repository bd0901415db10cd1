// What a run's snapshot contains besides files, what remains of the previous snapshot, and what is
// recorded about omitted entries.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FileEntry, Snapshot } from '../../../../core/files/file-entry.ts';
import { limits } from '../../../../core/limits.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../../../../systems/postgres/files/flow-file-store.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { snapshotOf, transcriptOf } from '../../../support/snapshot-of.ts';
import { setupScenario } from './setup-scenario.ts';

const content = Buffer.from('hello');
const sha256 = createHash('sha256').update(content).digest('hex');
const modifiedAt = new Date('2027-01-02T03:04:05.678Z');
/** Before every input file. */
const at = new Date(0);

const { database, scenario } = setupScenario();
let runId: string;
beforeAll(() =>
  createBlobStore(database.pool).put(Readable.from([content]), { sha256, size: content.length }),
);
beforeEach(async () => {
  ({ runId } = await scenario.session());
});

const of = () => ({ runId, generation: 1, token: 0 });
const turns = () => createTurnStore(database.pool);
const files = () => createFileStore(database.pool);
const runs = () => createRunStore(database.pool, testSealer);
const entry = (path: string, more: Partial<FileEntry> = {}): FileEntry => ({
  ...{ path, size: content.length, sha256, mode: 0o644, scope: 'run', modifiedAt },
  ...more,
});
const link = (path: string, target = 'a') => ({ path, target, modifiedAt });
const folder = (path: string, mode = 0o755) => ({ path, mode, modifiedAt });
const store = (entries: FileEntry[], more: Partial<Snapshot> = {}) =>
  turns().saveState(of(), { at, workspace: snapshotOf(entries, more), transcript: null });
const pathsOf = (entries: { path: string }[] = []) => entries.map(({ path }) => path);

/** A file that a sandbox has received. */
const give = (path: string) =>
  createFlowFileStore(database.pool).add(
    { runId, flowId: scenario.flow.flowId },
    {
      files: [{ path, sha256, size: content.length, mode: 0o644, scope: 'run' }],
      classifiedBy: { sha256: null },
    },
  );

describe('a snapshot', () => {
  test('returns files, links and folders unchanged, and replaces them', async () => {
    const first = {
      files: [entry('a', { linkGroup: 3 }), entry('dir/b', { linkGroup: 3 })],
      links: [link('dir/c', '../a'), link('it\'s "odd"\\\n', '/etc/passwd')],
      folders: [folder('dir', 0o700), folder('empty')],
    };
    await store(first.files, first);
    expect(await files().listRespawn(runId)).toEqual(first);
    await store([entry('z')], { links: [link('y')], folders: [folder('x')] });
    expect(await files().listRespawn(runId)).toEqual({
      ...{ files: [entry('z', { linkGroup: null })], links: [link('y')], folders: [folder('x')] },
    });
  });

  test('lists only files to clients', async () => {
    await store([entry('a')], { links: [link('b')], folders: [folder('c')] });
    expect(pathsOf(await files().list(runId, { limit: 9 }))).toEqual(['a']);
    expect(await files().find(runId, 'b')).toBeNull();
  });

  test('of a file that changed while it was stored has the previous version', async () => {
    await store([entry('log', { mode: 0o600, linkGroup: 0 }), entry('gone'), entry('two')]);
    await store([entry('two', { linkGroup: 0 })], { changed: ['log', 'never stored'] });
    expect((await files().listRespawn(runId))?.files).toEqual([
      entry('log', { mode: 0o600, linkGroup: null }),
      entry('two', { linkGroup: 0 }),
    ]);
  });

  test('keeps previous versions up to its limits', async () => {
    const { maxBytes } = limits.snapshot;
    const half = (path: string) => entry(path, { size: maxBytes / 2 });
    await store([half('a'), half('b')]);
    await store([half('c')], { changed: ['a', 'b'] });
    expect(pathsOf((await files().listRespawn(runId))?.files)).toEqual(['a', 'c']);
    await store([half('c'), half('d')], { changed: ['a'] });
    expect(pathsOf((await files().listRespawn(runId))?.files)).toEqual(['c', 'd']);
  });

  test('of a transcript keeps the previous version of a file that changed', async () => {
    const replace = (entries: FileEntry[], changed: string[] = []) => {
      const transcript = transcriptOf(entries, changed);
      return turns().saveState(of(), { at, workspace: snapshotOf([]), transcript });
    };
    await replace([entry('talk', { mode: 0o600 }), entry('old')]);
    await replace([entry('new')], ['talk']);
    const segments = [{ sha256, size: content.length }];
    expect(await turns().listTranscript(runId)).toEqual([
      { ...{ path: 'new', sha256, mode: 0o644, modifiedAt }, segments },
      { ...{ path: 'talk', sha256, mode: 0o600, modifiedAt }, segments },
    ]);
  });
});

describe('an input file', () => {
  test('that replaced a link is restored in its place', async () => {
    await store([], { links: [link('a', '/etc'), link('b')] });
    await give('a');
    const restored = await files().listRespawn(runId);
    expect(pathsOf(restored?.files)).toEqual(['a']);
    expect(pathsOf(restored?.links)).toEqual(['b']);
  });

  test('is restored into a folder, and not if the agent has replaced it or its folder', async () => {
    await store([entry('x')], {
      folders: [folder('dir'), folder('was-file')],
      links: [link('was-folder', '/tmp'), link('beyond-the-limit/link')],
    });
    for (const path of ['dir/new', 'was-file', 'was-folder/a', 'beyond-the-limit'])
      await give(path);
    const restored = await files().listRespawn(runId);
    expect(pathsOf(restored?.files)).toEqual(['dir/new', 'x']);
    expect(pathsOf(restored?.folders)).toEqual(['dir', 'was-file']);
  });

  test('is not restored if a later one needs its path', async () => {
    await store([]);
    for (const path of ['a', 'a/b', 'c/d', 'c']) {
      await give(path);
      await sleep(2); // times are compared by the millisecond
    }
    expect(pathsOf((await files().listRespawn(runId))?.files)).toEqual(['a/b', 'c']);
  });

  test('conflicts with a folder of its name and with a link above it', async () => {
    await store([], { folders: [folder('dir')], links: [link('ln', 'dir')] });
    const conflict = (path: string) => files().findPathConflict(runId, ['fine', path]);
    expect(await conflict('dir')).toEqual({ path: 'dir', other: 'dir' });
    expect(await conflict('ln/a')).toEqual({ path: 'ln/a', other: 'ln' });
    expect(await conflict('dir/a')).toBeNull();
    expect(await conflict('ln')).toBeNull();
  });
});

describe('entries that a snapshot left out', () => {
  const record = (...skipped: string[]) =>
    runs().recordSnapshot(of(), {
      ...{ at: modifiedAt.toISOString(), files: 1, bytes: 5, skippedCount: skipped.length },
      skipped: skipped.map((path) => ({ path, reason: 'a socket' })),
    });
  const events = async () => {
    const text = `select event, channel, data from frames where run_id = $1 order by seq`;
    return (await database.pool.query<{ event: string; data: string }>(text, [runId])).rows;
  };

  test('are announced when they change, and recorded each time', async () => {
    expect(await runs().findStoredFiles(runId)).toBeNull();
    expect(await record()).toBe(false);
    expect(await runs().findStoredFiles(runId)).toMatchObject({ skippedCount: 0, skipped: [] });
    expect([await record('a'), await record('a'), await record('a', 'b\n"')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(await record()).toBe(true);
    const sent = await events();
    expect(sent.map(({ event }) => event)).toEqual(Array(3).fill('files_skipped'));
    expect(sent.map(({ data }) => JSON.parse(data) as unknown)).toEqual([
      { skippedCount: 1, skipped: [{ path: 'a', reason: 'a socket' }] },
      { skippedCount: 2, skipped: ['a', 'b\n"'].map((path) => ({ path, reason: 'a socket' })) },
      { skippedCount: 0, skipped: [] },
    ]);
    expect(sent.every(({ data }) => !data.includes('\n'))).toBe(true);
  });

  test('are recorded without an event once the log is final', async () => {
    await database.pool.query('update run_logs set is_final = true where run_id = $1', [runId]);
    expect(await record('a')).toBe(false);
    expect(await runs().findStoredFiles(runId)).toMatchObject({ skippedCount: 1 });
    expect(await events()).toEqual([]);
  });

  test('are unknown when the files were removed', async () => {
    await record('a');
    await database.pool.query('update runs set files_purged_at = db_clock() where id = $1', [
      runId,
    ]);
    expect(await runs().findStoredFiles(runId)).toBeNull();
  });
});

describe('a run that ended without its final snapshot', () => {
  const final = () => ({ runId, generation: 1 });
  const storeFinal = () => files().replaceSnapshot(final(), snapshotOf([entry('a')]));
  const record = (token?: number) =>
    runs().recordSnapshot(
      { ...final(), ...(token === undefined ? {} : { token }) },
      { at: modifiedAt.toISOString(), files: 1, bytes: 5, skippedCount: 0, skipped: [] },
    );
  const state = async () => (await runs().findStoredFiles(runId))?.state;
  beforeEach(async () => {
    ({ runId } = await scenario.run({}));
    await runs().markStarted(runId, 1, 'idle');
    await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  });

  test('has its files stored by that snapshot, and by no earlier one', async () => {
    expect(await state()).toBe('failed');
    await record(0);
    expect(await state()).toBe('failed');
    await record();
    expect(await state()).toBe('stored');
  });

  test('has no files after its retention time, even if a host stores them at that moment', async () => {
    const retention = createRetentionStore(database.pool);
    expect(await storeFinal()).toBe('listed');
    const storing = Promise.all(Array.from({ length: 10 }, () => storeFinal()));
    while ((await retention.runFiles(-1_000)) > 0);
    await storing;
    // A pass skips a run whose files are being stored.
    while ((await retention.runFiles(-1_000)) > 0);
    expect(await storeFinal()).toBeNull();
    const { rows } = await database.pool.query('select from run_files where run_id = $1', [runId]);
    expect(rows).toEqual([]);
  });
});
