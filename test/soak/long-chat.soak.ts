import { describe, it } from 'vitest';
import { expectLongChat } from '../support/long-chat.ts';

describe('a very long conversation', () => {
  it('loses and doubles none of 5 000 messages, while workers die and histories begin anew', () =>
    expectLongChat({ messages: 5_000, kills: 20, turnsPerHistory: 150 }));
});
