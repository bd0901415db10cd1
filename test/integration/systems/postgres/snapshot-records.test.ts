// A snapshot is recorded by the statement that stores it, unless it omits other entries than the
// last one.

import { expect, test } from 'vitest';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { snapshotOf } from '../../../support/snapshot-of.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const query = (text: string, values: unknown[]) => database.pool.query(text, values);
const snapshot = snapshotOf([]);

const recordOf = (at: string, skipped: string[]) => ({
  ...{ at, files: 0, bytes: 0, skippedCount: skipped.length },
  skipped: skipped.map((path) => ({ path, reason: 'a socket' })),
});

test.each(['of a run', 'of a session'])('the snapshot %s', async (kind) => {
  const { runId } = await scenario.session();
  const of = { runId, generation: 1, token: 0 };
  const runs = createRunStore(database.pool, testSealer);
  const store = (at: string, ...skipped: string[]) => {
    const record = recordOf(at, skipped);
    if (kind === 'of a run')
      return createFileStore(database.pool).replaceSnapshot(of, snapshot, record);
    const state = { at: new Date(), workspace: snapshot, transcript: null, record };
    return createTurnStore(database.pool).saveState(of, state);
  };
  const recorded = async () => {
    const { rows } = await query('select snapshot from runs where id = $1', [runId]);
    return JSON.parse(rows[0].snapshot) as unknown;
  };

  expect(await store('first')).toBe('recorded');
  expect(await store('second', 'a')).toBe('listed');
  expect(await recorded()).toEqual(recordOf('first', []));
  expect(await runs.recordSnapshot(of, recordOf('second', ['a']))).toBe(true);
  expect(await store('third', 'a')).toBe('recorded');
  expect(await recorded()).toEqual(recordOf('third', ['a']));
  for (const changed of [['b'], ['a', 'b'], []])
    expect(await store('fourth', ...changed)).toBe('listed');
  expect((await query('select from frames where run_id = $1', [runId])).rowCount).toBe(1);
});

test('a run that ended has its files by a snapshot without a lease, and by no other', async () => {
  const { runId } = await scenario.run();
  const runs = createRunStore(database.pool, testSealer);
  await runs.markStarted(runId, 1, 'idle');
  await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  const files = createFileStore(database.pool);
  const state = async () => (await runs.findStoredFiles(runId))?.state;
  const store = (token: { token?: number }) =>
    files.replaceSnapshot({ runId, generation: 1, ...token }, snapshot, recordOf('', []));
  expect(await store({ token: 0 })).toBe('recorded');
  expect(await state()).toBe('failed');
  expect(await store({})).toBe('recorded');
  expect(await state()).toBe('stored');
});
