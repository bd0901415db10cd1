import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { forEachRun } from '../../../../worker/reconciler/for-each-run.ts';
import { admittedRun } from '../../../support/admitted-run.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

const logger = pino({ level: 'silent' });
const runs = Array.from({ length: 8 }, (_, n) => admittedRun({ runId: `run-${n}` }));
const idsOf = (found: { runId: string }[]) => found.map(({ runId }) => runId);

test.each([
  [1_999, 6],
  [2_000, 5],
])('begins no run after 10 s, if each takes %i ms, and returns the others', async (ms, count) => {
  const begun: string[] = [];
  const { failed, left } = await forEachRun(runs, { logger }, async ({ runId }) => {
    begun.push(runId);
    vi.advanceTimersByTime(ms);
  });
  expect(begun).toEqual(idsOf(runs.slice(0, count)));
  expect(idsOf(left)).toEqual(idsOf(runs.slice(count)));
  expect(failed).toEqual([]);
});

test('processes the runs after a failed one, and returns it', async () => {
  const begun: string[] = [];
  const { failed, left } = await forEachRun(runs, { logger }, async ({ runId }) => {
    begun.push(runId);
    if (runId === 'run-1') throw new Error('refused');
  });
  expect(begun.sort()).toEqual(idsOf(runs));
  expect([idsOf(failed), left]).toEqual([['run-1'], []]);
});
