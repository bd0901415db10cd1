// However many requests wait for turns, and however much the agents write, each process reads the
// awaited turns at most once per interval.

import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { sleep } from '../../../lib/async/sleep.ts';
import { measureSlowdown } from '../../support/processor-wait.ts';
import { openLog, output } from './log-writer.ts';
import { sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, chat, open, messages } = useSessions();
afterEach(() => vi.restoreAllMocks());

/** Counts the queries for the ends of turns. */
function countReads(): () => number {
  const query = vi.spyOn(fixture.database.pool, 'query');
  return () =>
    query.mock.calls.filter((call) => JSON.stringify(call).includes('turn_spending t')).length;
}

const waiters = 40;
const sendAll = (body: object, ids: string[]) =>
  ids.map((clientMessageId) => chat({ ...body, clientMessageId, stream: false }));

async function writeLines(runId: string, forMs: number): Promise<void> {
  const log = await openLog(fixture, runId);
  const until = performance.now() + forMs;
  for (let n = 0; performance.now() < until; n += 1) {
    await log.write([output(`line ${n}`)]);
    await sleep(5);
  }
}

test('repeating one clientMessageId under a flood of output adds no queries', async () => {
  const { sessionId, runId } = await open();
  const reads = countReads();
  const id = randomUUID();
  const waits = sendAll({ message: 'Go', sessionId }, Array(waiters).fill(id));
  await expect.poll(() => messages(runId)).toBe(1);
  await sleep(500); // all of them wait
  const before = reads();
  const slowdown = measureSlowdown(process.pid);
  await writeLines(runId, 2_000);
  expect(reads() - before).toBeLessThanOrEqual(4 * slowdown());

  const worker = sessionWorker(fixture, runId);
  await worker.begin();
  await worker.end('Done.');
  await fixture.frameStream.notify(runId);
  const answers = await Promise.all(waits);
  expect(answers.map(({ status, json }) => [status, json.data.text])).toEqual(
    Array.from({ length: waiters }, () => [200, 'Done.']),
  );
});

test('messages of several sessions are read together', async () => {
  const reads = countReads();
  const sessions = await Promise.all(Array.from({ length: 5 }, () => open()));
  const waits = sessions.map(({ sessionId }) => chat({ message: 'Go', sessionId, stream: false }));
  for (const { runId } of sessions) await expect.poll(() => messages(runId)).toBe(1);
  await sleep(500);
  const before = reads();
  const slowdown = measureSlowdown(process.pid);
  await sleep(2_000);
  expect(reads() - before).toBeLessThanOrEqual(3 * slowdown());

  for (const [n, { runId }] of sessions.entries()) {
    const worker = sessionWorker(fixture, runId);
    await worker.begin();
    await worker.end(`Done ${n}.`);
  }
  const answers = await Promise.all(waits);
  expect(answers.map(({ json }) => json.data.text)).toEqual(sessions.map((_, n) => `Done ${n}.`));
});
