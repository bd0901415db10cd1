// A hint and an activity begin turns in any order, while messages are stored and while the session
// is asked whether it may sleep.

import { describe, expect, test } from 'vitest';
import {
  createTurnRunner,
  type TurnRunner,
} from '../../../../../worker/sandbox/session/turn-runner.ts';
import { createSession, settled } from './simulated-session.ts';

describe('a turn that a hint has begun', () => {
  test('is joined by the activity, and has one claim', async () => {
    const session = createSession();
    session.stored.push('a');
    session.runner.hint();
    await session.proceed();
    const turn = session.runner.run(session.stored);
    await session.finish();
    expect(await turn).toEqual({ outcome: 'done', more: false, hasWaiting: false });
    expect([session.startedBy, session.ended]).toEqual([['hint'], ['a']]);
  });

  test('is followed by the turn of a message that was stored after its last look', async () => {
    const session = createSession();
    session.stored.push('a');
    session.runner.hint();
    for (const _ of ['claim', 'answer', 'turn', 'look']) await session.proceed();
    session.stored.push('b');
    session.runner.hint();
    await session.finish();
    expect([session.startedBy, session.ended]).toEqual([
      ['hint', 'hint'],
      ['a', 'b'],
    ]);
  });

  test('does not end for an activity that came after its last look', async () => {
    const session = createSession();
    session.stored.push('a');
    session.runner.hint();
    for (const _ of ['claim', 'answer', 'turn', 'look']) await session.proceed();
    session.stored.push('b');
    const turn = session.runner.run(['b']);
    await session.finish();
    await turn;
    expect(session.ended).toEqual(['a', 'b']);
  });

  test('leaves no claim to the activity of its message, but one to any other activity', async () => {
    const session = createSession();
    session.stored.push('a');
    session.runner.hint();
    await session.finish();
    expect(await session.runner.run(['a'])).toMatchObject({ outcome: 'done', more: false });
    expect(session.steps).toEqual([]);
    session.stored.push('b');
    for (const messages of [[], ['b']]) void session.runner.run(messages);
    await settled();
    expect(session.steps).toHaveLength(1);
    await session.finish();
    expect(session.ended).toEqual(['a', 'b']);
  });

  test('lets the activity evict the session if a run waits for its slot', async () => {
    const outcomes = [true, false].map(
      (hasWaiting) => ({ outcome: 'done', more: false, hasWaiting }) as const,
    );
    const { hint, run } = createTurnRunner({
      runTurn: async (_, onLook) => {
        onLook();
        return outcomes.shift() ?? { outcome: 'sandbox_ended' };
      },
      hasEnded: () => false,
      isClaimed: true,
      hasWork: async () => false,
      mayActOnHints: () => true,
      onFailure: () => undefined,
    });
    hint();
    await settled();
    expect(await run([])).toEqual({ outcome: 'done', more: false, hasWaiting: true });
    expect(await run([])).toEqual({ outcome: 'sandbox_ended' });
  });

  test('fails for itself and for the activity that has joined it', async () => {
    const failures: unknown[] = [];
    const { hint, run } = createTurnRunner({
      runTurn: () => Promise.reject(new Error('no answer')),
      hasEnded: () => false,
      isClaimed: true,
      hasWork: async () => false,
      mayActOnHints: () => true,
      onFailure: (error) => failures.push(error),
    });
    hint();
    await expect(run([])).rejects.toThrow('no answer');
    await expect(run([])).rejects.toThrow('no answer');
    expect(failures).toHaveLength(1);
  });
});

describe('a hint has no effect', () => {
  test.each<[string, () => boolean, (runner: TurnRunner) => void]>([
    ['while none may be acted upon', () => false, () => undefined],
    ['after hints were refused', () => true, ({ refuseHints }) => refuseHints()],
  ])('%s', async (_when, mayActOnHints, before) => {
    const session = createSession({ mayActOnHints });
    before(session.runner);
    session.stored.push('a');
    session.runner.hint();
    await session.finish();
    expect(session.ended).toEqual([]);
    const turn = session.runner.run(session.stored);
    await session.finish();
    await turn;
    expect([session.startedBy, session.ended]).toEqual([['activity'], ['a']]);
  });
});

test('a hint begins no turn before the first activity, which shows that the workflow knows', async () => {
  const session = createSession({ isClaimed: false });
  session.stored.push('a', 'b');
  session.runner.hint();
  await session.finish();
  expect(session.startedBy).toEqual([]);
  const turn = session.runner.run(['a']);
  await session.finish();
  await turn;
  await session.finish();
  expect(session.startedBy).toEqual(['activity', 'hint']);
});

describe('a session that is asked whether it may sleep', () => {
  test('begins no turn afterwards', async () => {
    const session = createSession();
    const asked = session.runner.refuseHintsIfIdle();
    session.stored.push('a');
    session.runner.hint();
    await session.finish();
    expect(await asked).toBe(false);
    session.ended.push('a');
    const again = session.runner.refuseHintsIfIdle();
    await session.finish();
    expect(await again).toBe(true);
    session.stored.push('b');
    session.runner.hint();
    await session.finish();
    expect(session.startedBy).toEqual([]);
  });

  test('stays awake during a turn, and if the database does not answer', async () => {
    const session = createSession();
    session.stored.push('a');
    session.runner.hint();
    expect(await session.runner.refuseHintsIfIdle()).toBe(false);
    await session.finish();
    session.stored.push('b');
    session.runner.hint();
    await session.finish();
    expect(session.ended).toEqual(['a', 'b']);
    const failures: unknown[] = [];
    const unanswered = createTurnRunner({
      runTurn: async () => ({ outcome: 'sandbox_ended' }),
      hasEnded: () => false,
      isClaimed: true,
      hasWork: () => Promise.reject(new Error('no answer')),
      mayActOnHints: () => true,
      onFailure: (error) => failures.push(error),
    });
    expect(await unanswered.refuseHintsIfIdle()).toBe(false);
    expect(failures).toHaveLength(1);
  });
});
