import { expect, test } from 'vitest';
import { createFeedState, stateOf } from '../../../api/stream/feed-state.ts';
import { createFeedTree } from '../../../api/stream/feed-tree.ts';
import { createLiveFeed } from '../../../api/stream/run-feed.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { LogState } from '../../../systems/postgres/log/run-progress.ts';
import { admittedRun } from '../../support/admitted-run.ts';

const run = admittedRun();
const ended: LogState = { ...stateOf(run), status: 'sleep', endedAt: new Date() };
const away = new Error('the database is away');

/** One after the other. */
const answers = <T>(...each: (() => T)[]) => {
  const left = each.values();
  return async (): Promise<T> => (left.next().value ?? unforeseen)();
};

function unforeseen(): never {
  throw new Error('asked once more than foreseen');
}

function fails(): never {
  throw away;
}

const stateThatReads = (state: FrameStore['state']) =>
  createFeedState({ frames: { state } as FrameStore }, run); // it asks nothing else

test('a change that is announced while the state is read is read, too', async () => {
  const announcedMeanwhile = () => {
    state.expect();
    return stateOf(run);
  };
  const state = stateThatReads(answers(announcedMeanwhile, () => ended));
  state.expect();
  await state.refresh();
  await state.refresh();
  expect(state.now()).toBe(ended);
});

test('a state that could not be read is read again', async () => {
  const state = stateThatReads(answers(fails, () => ended));
  state.expect();
  await expect(state.refresh()).rejects.toBe(away);
  await state.refresh();
  expect(state.now()).toBe(ended);
});

test('a working directory that could not be read is read again', async () => {
  const entry = { path: 'a.txt', sha256: '', size: 1, mode: 0o644, modifiedAt: new Date() };
  const tree = createFeedTree(
    {
      frameStream: { readFileTree: async () => ({ json: null }) } as never, // it asks nothing else
      files: { list: answers(fails, () => [{ ...entry, scope: 'run' as const }]) } as never,
    },
    run.runId,
  );
  await expect(tree.refresh(true)).rejects.toBe(away);
  await tree.refresh(true);
  expect(tree.json()).toContain('a.txt');
});

test('a working directory that Redis does not tell of is asked for again', async () => {
  const told = answers(
    () => null,
    () => ({ json: '["a"]' }),
    () => null,
    () => ({ json: '["a","b"]' }),
  );
  const deps = { frameStream: { readFileTree: told }, files: {} } as never; // it asks nothing else
  const tree = createFeedTree(deps, run.runId);
  const seen = [];
  for (let look = 1; look <= 4; look += 1) {
    if (look === 3) tree.expect();
    await tree.refresh(false);
    seen.push([tree.json(), tree.isDue()]);
  }
  expect(seen).toEqual([
    [null, true],
    ['["a"]', false],
    ['["a"]', true],
    ['["a","b"]', false],
  ]);
});

test('the tick has a working directory read that nobody announces again', async () => {
  const told = answers(
    () => null,
    () => ({ json: '[]' }),
  );
  const feed = createLiveFeed(
    {
      frameStream: { subscribe: () => () => undefined, readFileTree: told, read: async () => [] },
    } as never, // it asks nothing else
    run,
  );
  await feed.ready;
  expect(feed.tree.json()).toBeNull();
  feed.observe(stateOf(run));
  await expect.poll(() => feed.tree.json()).toBe('[]');
  feed.close();
});
