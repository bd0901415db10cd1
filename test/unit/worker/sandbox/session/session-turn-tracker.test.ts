import { expect, test } from 'vitest';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { createChatTurns } from '../../../../../worker/sandbox/session/session-turn-tracker.ts';

const turn = (messageId: string) => ({
  messageId,
  uuid: `uuid-${messageId}`,
  accepted: false,
  error: null,
});
const begunOf = (messageId: string) => ({ startedMessage: messageId });
const endOf = (messageId: string) => ({
  turnEnd: { messageId, exitCode: 0 as const, reply: null, usage: null, costUsd: null },
});

test('whoever waits for a turn hears of its end, also where the next one begins before it is noted', async () => {
  const turns = createChatTurns(turn('a'));
  const first = turns.ended();
  turns.begin(turn('b'));
  await first;
  const second = turns.ended();
  turns.note(endOf('a'));
  expect(turns.present()).toMatchObject({ messageId: 'b' });
  expect(await settlesWithin(0, second)).toBe(false);
  turns.note(endOf('b'));
  await second;
  expect(turns.present()).toBeNull();
});

test('a turn counts as begun when its agent has begun it, and as long as it goes on', async () => {
  const turns = createChatTurns(null);
  turns.begin(turn('a'));
  const first = turns.begun('a');
  expect(await settlesWithin(0, first)).toBe(false);
  turns.note(begunOf('another'));
  expect(await settlesWithin(0, first)).toBe(false);
  turns.note(begunOf('a'));
  expect(await first).toBe(true);
  expect(await turns.begun('a')).toBe(true);
  turns.note(endOf('a'));
  expect(await turns.begun('a')).toBe(false);
  turns.begin(turn('b'));
  expect(await turns.begun('a')).toBe(false);
});

test('a turn that ends unbegun has not begun, nor has one in whose place another is given', async () => {
  const turns = createChatTurns(null);
  const [early, other] = [turns.begun('a'), turns.begun('never given')];
  expect(await settlesWithin(0, early)).toBe(false);
  turns.begin(turn('a'));
  expect(await other).toBe(false);
  expect(await settlesWithin(0, early)).toBe(false);
  turns.note(endOf('a'));
  expect(await early).toBe(false);
});

test('one that was begun before this process goes on, and one that was only given is waited for', async () => {
  expect(await createChatTurns({ ...turn('a'), accepted: true }).begun('a')).toBe(true);
  const turns = createChatTurns(turn('a'));
  const given = turns.begun('a');
  expect(await settlesWithin(0, given)).toBe(false);
  turns.note(begunOf('a'));
  expect(await given).toBe(true);
});
