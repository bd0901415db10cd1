// Attempts are numbered by their stored rows: a claim that fails, or gets no answer, uses up none.

import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import type { AttemptClaim } from '../../../../systems/postgres/runs/claim-attempt.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../../../../systems/postgres/runs/webhook-store.ts';
import { claimNext } from '../../../support/claim-next.ts';
import { testSealer } from '../../../support/database.ts';
import { attemptsAge } from './attempts-age.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const { attempts, attemptMaxMs, delaysMs } = limits.webhook;
/** More than a test takes between two statements, and less than every delay. */
const shortMs = 1_500;

let runId: string;
beforeEach(async () => {
  ({ runId } = await scenario.run({ callbackUrl: 'https://hooks.example/run' }));
  await createRunStore(database.pool, testSealer).endRun({
    ...{ runId, cause: 'completed', detail: null, exitCode: 0 },
  });
});

const webhooks = () => createWebhookStore(database.pool, testSealer);
const claim = (own: Partial<AttemptClaim> = {}) => claimNext(webhooks(), runId, own);
const age = (ms: number) => attemptsAge(database, ms);
const record = (attempt: number) =>
  webhooks().recordAttempt(runId, attempt, { status: 500, error: null });
const numbered = (attempt: number) => expect.objectContaining({ attempt, url: expect.any(String) });
const notBefore = expect.objectContaining({ dueInMs: expect.any(Number) });

test('makes four attempts, each after its delay, however often it is asked', async () => {
  for (const [made, delayMs] of delaysMs.entries()) {
    expect(await claim({ execution: 100 * made })).toEqual(numbered(made + 1));
    await record(made + 1);
    await age(delayMs - shortMs);
    expect(await claim({ execution: 100 * made + 1 })).toEqual(notBefore);
    await age(shortMs);
  }
  expect(await claim()).toEqual(numbered(attempts));
  await record(attempts);
  expect(await claim()).toEqual({ unavailable: 'none_left' });
  expect(await webhooks().attempts(runId)).toHaveLength(attempts);
});

test('waits for an attempt in progress and its delay, also for the last one', async () => {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    expect(await claim()).toEqual(numbered(attempt));
    const endMs = attemptMaxMs + (delaysMs[attempt - 1] ?? 0);
    await age(endMs - shortMs);
    expect(await claim()).toEqual(notBefore);
    await age(shortMs);
  }
  expect(await claim()).toEqual({ unavailable: 'none_left' });
});

test('continues after the attempts that were made, if a restore has lost their rows', async () => {
  expect(await claim({ made: 2 })).toEqual(numbered(3));
  await record(3);
  await age(60_000);
  expect(await claim({ made: 4 })).toEqual({ unavailable: 'none_left' });
});

test('makes an attempt at once whose claim got no answer, and once', async () => {
  await claim({ execution: 7 });
  expect(await claim({ execution: 8 }), 'it may have been made').toEqual(notBefore);
  await age(60_000);
  const unanswered = { from: 7, to: 8 };
  const claims = await Promise.all([9, 10, 11].map((n) => claim({ execution: n, unanswered })));
  expect(claims.filter((one) => 'url' in one)).toEqual([numbered(1)]);
  expect(await claim({ execution: 12, unanswered }), 'it begins at the takeover').toEqual(
    notBefore,
  );
  expect(await webhooks().attempts(runId)).toHaveLength(1);
});

test.each([
  ['by another workflow', { claimedBy: 'workflow-2' }],
  ['by a later execution', { unanswered: { from: 1, to: 6 } }],
  ['by an earlier execution', { unanswered: { from: 8, to: 9 } }],
])('does not make an attempt again that was claimed %s', async (_what, own) => {
  await claim({ execution: 7 });
  const later = { execution: 10, unanswered: { from: 7, to: 9 }, ...own };
  expect(await claim(later)).toEqual(notBefore);
});

test('does not take over an attempt that has a result', async () => {
  await claim({ execution: 7 });
  await record(1);
  await age(60_000);
  expect(await claim({ execution: 8, unanswered: { from: 7, to: 7 } })).toEqual(numbered(2));
});

test.each([
  ['has got a result', () => record(1)],
  ['was taken over', () => claim({ execution: 8, unanswered: { from: 7, to: 7 } })],
])('does not take over an attempt that %s after it was read', async (_what, meanwhile) => {
  await claim({ execution: 7 });
  const reserve = async () => {
    await meanwhile();
    return true;
  };
  const claimed = await claim({ execution: 9, unanswered: { from: 7, to: 7 }, reserve });
  expect(claimed).toEqual({ unavailable: 'taken' });
});

test('claims nothing without memory for the body, and then claims the same attempt', async () => {
  const asked: unknown[] = [];
  const reserve = (isFree: boolean) => async (projectId: string, bytes: number) => {
    asked.push(projectId, bytes);
    return isFree;
  };
  expect(await claim({ reserve: reserve(false) })).toEqual({ unavailable: 'no_memory' });
  expect(await webhooks().attempts(runId)).toEqual([]);
  const claimed = await claim({ reserve: reserve(true) });
  if (!('url' in claimed)) throw new Error('not claimed');
  const bytes = Buffer.byteLength(claimed.body);
  expect(asked).toEqual([scenario.projectId, bytes, scenario.projectId, bytes]);
});

test('reserves no memory for an attempt that is not due', async () => {
  await claim();
  const reserve = () => Promise.reject(new Error('not expected'));
  expect(await claim({ reserve })).toEqual(notBefore);
});

test('claims nothing after the caller has stopped waiting', async () => {
  await expect(claim({ signal: AbortSignal.abort() })).rejects.toThrow();
  expect(await webhooks().attempts(runId)).toEqual([]);
});
