import { expect, test } from 'vitest';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { createSessionTurnTracker } from '../../../../../worker/sandbox/session/session-turn-tracker.ts';

const turn = (messageId: string) => ({
  messageId,
  uuid: `uuid-${messageId}`,
  isAccepted: false,
  error: null,
});
const begunOf = (messageId: string) => ({ startedMessage: messageId });
const endOf = (messageId: string) => ({
  turnEnd: { messageId, exitCode: 0 as const, reply: null, usage: null, costUsd: null },
});

test('whoever waits for a turn hears of its end, also where the next one begins before it is noted', async () => {
  const turns = createSessionTurnTracker(turn('a'));
  const first = turns.ended();
  turns.start(turn('b'));
  await first;
  const second = turns.ended();
  turns.note(endOf('a'));
  expect(turns.current()).toMatchObject({ messageId: 'b' });
  expect(await settlesWithin(0, second)).toBe(false);
  turns.note(endOf('b'));
  await second;
  expect(turns.current()).toBeNull();
});

test('a turn counts as waitUntilStarted when its agent has waitUntilStarted it, and as long as it goes on', async () => {
  const turns = createSessionTurnTracker(null);
  turns.start(turn('a'));
  const first = turns.waitUntilStarted('a');
  expect(await settlesWithin(0, first)).toBe(false);
  turns.note(begunOf('another'));
  expect(await settlesWithin(0, first)).toBe(false);
  turns.note(begunOf('a'));
  expect(await first).toBe(true);
  expect(await turns.waitUntilStarted('a')).toBe(true);
  turns.note(endOf('a'));
  expect(await turns.waitUntilStarted('a')).toBe(false);
  turns.start(turn('b'));
  expect(await turns.waitUntilStarted('a')).toBe(false);
});

test('a turn that ends unbegun has not waitUntilStarted, nor has one in whose place another is given', async () => {
  const turns = createSessionTurnTracker(null);
  const [early, other] = [turns.waitUntilStarted('a'), turns.waitUntilStarted('never given')];
  expect(await settlesWithin(0, early)).toBe(false);
  turns.start(turn('a'));
  expect(await other).toBe(false);
  expect(await settlesWithin(0, early)).toBe(false);
  turns.note(endOf('a'));
  expect(await early).toBe(false);
});

test('one that was waitUntilStarted before this process goes on, and one that was only given is waited for', async () => {
  expect(
    await createSessionTurnTracker({ ...turn('a'), isAccepted: true }).waitUntilStarted('a'),
  ).toBe(true);
  const turns = createSessionTurnTracker(turn('a'));
  const given = turns.waitUntilStarted('a');
  expect(await settlesWithin(0, given)).toBe(false);
  turns.note(begunOf('a'));
  expect(await given).toBe(true);
});
