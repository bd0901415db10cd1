import { expect } from 'vitest';
import type { Conversation } from './conversation.ts';

/**
 * Asserts that the stream reports each message and each successful turn once, in the order of
 * sending.
 */
export function assertExactlyOnce(chat: Conversation, sent: string[]): void {
  const ids = (event: string): unknown[] =>
    chat.named(event).map(({ data }) => (JSON.parse(data) as { messageId: string }).messageId);
  expect(ids('user_message')).toEqual(sent);
  expect(ids('turn_end')).toEqual(sent);
  for (const { data } of chat.named('turn_end'))
    expect(JSON.parse(data)).toMatchObject({ exitCode: 0 });
}
