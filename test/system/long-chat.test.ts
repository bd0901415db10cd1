import { describe, it } from 'vitest';
import { expectLongChat } from '../support/long-chat.ts';

describe('a long conversation', () => {
  it(
    'loses and doubles none of 500 messages, while workers die and histories begin anew',
    {
      timeout: 600_000,
    },
    () => expectLongChat({ messages: 500, kills: 3, turnsPerHistory: 40 }),
  );
});
