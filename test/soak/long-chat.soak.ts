import { describe, it } from 'vitest';
import { expectLongChat } from '../support/long-chat.ts';

describe('a very long conversation', () => {
  it('neither loses nor duplicates any of 5 000 messages while workers die and histories continue-as-new', () =>
    expectLongChat({ messages: 5_000, kills: 20, turnsPerHistory: 150 }));
});
