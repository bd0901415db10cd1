import { expect, test } from 'vitest';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { createSessionTurnTracker } from '../../../../../worker/sandbox/session/session-turn-tracker.ts';

const turn = (messageId: string) => ({
  messageId,
  uuid: `uuid-${messageId}`,
  isAccepted: false,
  error: null,
});
const startOf = (messageId: string) => ({ startedMessage: messageId });
const endOf = (messageId: string) => ({
  turnEnd: { messageId, exitCode: 0 as const, reply: null },
});

test('a waiter gets the end of its turn, even if the next turn starts before the end is noted', async () => {
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

test('a turn is started between the note of its start and the note of its end', async () => {
  const turns = createSessionTurnTracker(null);
  turns.start(turn('a'));
  const first = turns.waitUntilStarted('a');
  expect(await settlesWithin(0, first)).toBe(false);
  turns.note(startOf('another'));
  expect(await settlesWithin(0, first)).toBe(false);
  turns.note(startOf('a'));
  expect(await first).toBe(true);
  expect(await turns.waitUntilStarted('a')).toBe(true);
  turns.note(endOf('a'));
  expect(await turns.waitUntilStarted('a')).toBe(false);
  turns.start(turn('b'));
  expect(await turns.waitUntilStarted('a')).toBe(false);
});

test('a turn that ended early or was replaced counts as not started', async () => {
  const turns = createSessionTurnTracker(null);
  const [early, other] = [turns.waitUntilStarted('a'), turns.waitUntilStarted('never started')];
  expect(await settlesWithin(0, early)).toBe(false);
  turns.start(turn('a'));
  expect(await other).toBe(false);
  expect(await settlesWithin(0, early)).toBe(false);
  turns.note(endOf('a'));
  expect(await early).toBe(false);
});

test('an adopted turn counts as started, a sent one only once its start is noted', async () => {
  expect(
    await createSessionTurnTracker({ ...turn('a'), isAccepted: true }).waitUntilStarted('a'),
  ).toBe(true);
  const turns = createSessionTurnTracker(turn('a'));
  const started = turns.waitUntilStarted('a');
  expect(await settlesWithin(0, started)).toBe(false);
  turns.note(startOf('a'));
  expect(await started).toBe(true);
});

test('a turn has ended if it was the current one', () => {
  const turns = createSessionTurnTracker(turn('a'));
  const ended = () => ['a', 'b'].filter(turns.hasEnded);
  expect(ended()).toEqual([]);
  turns.note(endOf('a'));
  expect(ended()).toEqual(['a']);
  turns.start(turn('b'));
  expect(ended()).toEqual(['a']);
  turns.note(endOf('b'));
  expect(ended()).toEqual(['a', 'b']);
});
