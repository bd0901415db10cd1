import { expect, test } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import { currentPosition, waitForTurnEnd } from '../../../api/sessions/turn-waiter.ts';
import { createLogger } from '../../../config/logger.ts';
import { noUsage } from '../../../core/runs/run.ts';

const log = createLogger({ level: 'silent', name: 'test' });
const { signal } = new AbortController();
const turn = { runId: 'a-run', messageId: 'a-message', signal, log };
const ended = { exitCode: 0, error: null, reply: 'Done.', usage: noUsage, costNanos: null };

function depsWhose(end: ApiDeps['messages']['end']) {
  return {
    messages: { end } as ApiDeps['messages'], // no other method is used
    frameStream: { subscribe: () => () => undefined } as unknown as ApiDeps['frameStream'],
  };
}

test('a brief database outage only delays the response', async () => {
  const reads = [Promise.reject(new Error('unavailable')), Promise.resolve(ended)];
  reads[0]?.catch(() => undefined);
  const deps = depsWhose(() => reads.shift() ?? Promise.reject(new Error('once more')));
  expect(await waitForTurnEnd(deps, { ...turn, timeoutMs: 10_000 })).toEqual(ended);
});

test('while the database is unavailable, the queue position is the stored one', async () => {
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const messages = {
    position: unavailable as ApiDeps['messages']['position'],
  } as ApiDeps['messages'];
  const sent = { runId: 'a-run', messageId: 'a-message', position: 3 };
  expect(await currentPosition({ messages }, sent, log)).toBe(3);
});

test('if the database stays unavailable, the wait ends without a result and throws nothing', async () => {
  const deps = depsWhose(() => Promise.reject(new Error('unavailable')));
  expect(await waitForTurnEnd(deps, { ...turn, timeoutMs: 10 })).toBeNull();
});
