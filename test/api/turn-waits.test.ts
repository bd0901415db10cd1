import { expect, test } from 'vitest';
import { untilTurnEnd } from '../../api/chat/turn-waits.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { createLogger } from '../../config/logger.ts';
import { noUsage } from '../../core/run.ts';

const turn = { runId: 'a-run', messageId: 'a-message', signal: new AbortController().signal };
const ended = { exitCode: 0, error: null, reply: 'Done.', usage: noUsage, costUsd: null };

function depsWhose(end: ApiDeps['messages']['end']) {
  return {
    messages: { end } as ApiDeps['messages'], // it asks nothing else
    frameStream: { subscribe: () => () => undefined } as unknown as ApiDeps['frameStream'],
    logger: createLogger({ level: 'silent', name: 'test' }),
  };
}

test('a database that is away for a moment only delays the answer', async () => {
  const looks = [Promise.reject(new Error('away')), Promise.resolve(ended)];
  looks[0]?.catch(() => undefined);
  const deps = depsWhose(() => looks.shift() ?? Promise.reject(new Error('once more')));
  expect(await untilTurnEnd(deps, { ...turn, withinMs: 10_000 })).toEqual(ended);
});

test('one that stays away leaves the turn unanswered, and throws nothing', async () => {
  const deps = depsWhose(() => Promise.reject(new Error('away')));
  expect(await untilTurnEnd(deps, { ...turn, withinMs: 10 })).toBeNull();
});
