import { describe, it } from 'vitest';
import { expectLongChat } from '../support/long-chat.ts';

describe('a long conversation', () => {
  it(
    'neither loses nor duplicates any of 200 messages while workers die and histories continue as new',
    {
      timeout: 600_000,
    },
    () => expectLongChat({ messages: 200, kills: 3, turnsPerHistory: 40 }),
  );
});
