import { expect, test } from 'vitest';
import { createChatTurns } from '../../../worker/supervisor/session/chat-turns.ts';
import { within } from '../../../worker/supervisor/wait.ts';

const turn = (messageId: string) => ({
  messageId,
  uuid: `uuid-${messageId}`,
  accepted: false,
  error: null,
});
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
  expect(await within(0, second)).toBe(false);
  turns.note(endOf('b'));
  await second;
  expect(turns.present()).toBeNull();
});
