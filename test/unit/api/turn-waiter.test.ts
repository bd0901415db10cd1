import { expect, test } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import { currentPosition, waitForTurnEnd } from '../../../api/sessions/turn-waiter.ts';
import { createLogger } from '../../../config/logger.ts';
import { noUsage } from '../../../core/runs/run.ts';

const log = createLogger({ level: 'silent', name: 'test' });
const { signal } = new AbortController();
const turn = { runId: 'a-run', messageId: 'a-message', signal, log };
const ended = { exitCode: 0, error: null, reply: 'Done.', usage: noUsage, costUsd: null };

function depsWhose(end: ApiDeps['messages']['end']) {
  return {
    messages: { end } as ApiDeps['messages'], // it asks nothing else
    frameStream: { subscribe: () => () => undefined } as unknown as ApiDeps['frameStream'],
  };
}

test('a database that is away for a moment only delays the answer', async () => {
  const looks = [Promise.reject(new Error('away')), Promise.resolve(ended)];
  looks[0]?.catch(() => undefined);
  const deps = depsWhose(() => looks.shift() ?? Promise.reject(new Error('once more')));
  expect(await waitForTurnEnd(deps, { ...turn, timeoutMs: 10_000 })).toEqual(ended);
});

test('where others come before it nobody can say, the place that it was given stands', async () => {
  const away = () => Promise.reject(new Error('away'));
  const messages = { position: away as ApiDeps['messages']['position'] } as ApiDeps['messages'];
  const sent = { runId: 'a-run', messageId: 'a-message', position: 3 };
  expect(await currentPosition({ messages }, sent, log)).toBe(3);
});

test('one that stays away leaves the turn unanswered, and throws nothing', async () => {
  const deps = depsWhose(() => Promise.reject(new Error('away')));
  expect(await waitForTurnEnd(deps, { ...turn, timeoutMs: 10 })).toBeNull();
});
