import { expect, test } from 'vitest';
import { createRingMemory } from '../../../api/stream/ring-memory.ts';
import {
  createFeedState,
  createFeedTree,
  createRunFeed,
  stateOf,
} from '../../../api/stream/run-feed.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { RunProgress } from '../../../systems/postgres/log/run-progress.ts';
import { admittedRun } from '../../support/admitted-run.ts';

const run = admittedRun();
const ended: RunProgress = { ...stateOf(run), status: 'sleep', endedAt: new Date() };
const unavailable = new Error('the database is unavailable');

/** Each call takes the next answer. */
const answers = <T>(...each: (() => T)[]) => {
  const left = each.values();
  return async (): Promise<T> => (left.next().value ?? unexpected)();
};

function unexpected(): never {
  throw new Error('called more often than expected');
}

function unreachable(): never {
  throw unavailable;
}

const stateThatReads = (state: FrameStore['progress']) =>
  createFeedState({ frames: { progress: state } as FrameStore }, run); // no other member is used

test('reads the state again if it changed during the read', async () => {
  const changesDuringRead = () => {
    state.invalidate();
    return stateOf(run);
  };
  const state = stateThatReads(answers(changesDuringRead, () => ended));
  state.invalidate();
  await state.refresh();
  await state.refresh();
  expect(state.now()).toBe(ended);
});

test('retries a failed read of the state', async () => {
  const state = stateThatReads(answers(unreachable, () => ended));
  state.invalidate();
  await expect(state.refresh()).rejects.toBe(unavailable);
  await state.refresh();
  expect(state.now()).toBe(ended);
});

test('retries a failed read of the file tree', async () => {
  const entry = { path: 'a.txt', sha256: '', size: 1, mode: 0o644, modifiedAt: new Date() };
  const tree = createFeedTree(
    {
      frameStream: { readFileTree: async () => ({ json: null }) } as never, // no other member is used
      files: { list: answers(unreachable, () => [{ ...entry, scope: 'run' as const }]) } as never,
    },
    run.runId,
  );
  await expect(tree.refresh(true)).rejects.toBe(unavailable);
  await tree.refresh(true);
  expect(tree.json()).toContain('a.txt');
});

test('reads the file tree again while Redis has none', async () => {
  const readFileTree = answers(
    () => null,
    () => ({ json: '["a"]' }),
    () => null,
    () => ({ json: '["a","b"]' }),
  );
  const deps = { frameStream: { readFileTree }, files: {} } as never; // no other member is used
  const tree = createFeedTree(deps, run.runId);
  const seen = [];
  for (let read = 1; read <= 4; read += 1) {
    if (read === 3) tree.invalidate();
    await tree.refresh(false);
    seen.push([tree.json(), tree.isStale()]);
  }
  expect(seen).toEqual([
    [null, true],
    ['["a"]', false],
    ['["a"]', true],
    ['["a","b"]', false],
  ]);
});

test('reads a stale file tree at the next poll', async () => {
  const readFileTree = answers(
    () => null,
    () => ({ json: '[]' }),
  );
  const feed = createRunFeed(
    {
      frameStream: { subscribe: () => () => undefined, readFileTree, read: async () => [] },
    } as never, // no other member is used
    run,
    createRingMemory(),
  );
  await feed.ready;
  expect(feed.tree.json()).toBeNull();
  feed.update(stateOf(run));
  await expect.poll(() => feed.tree.json()).toBe('[]');
  feed.close();
});
