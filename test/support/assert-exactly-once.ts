import { expect } from 'vitest';
import type { Conversation } from './conversation.ts';
import type { SentEvent } from './sent-events.ts';

interface Announced {
  messageId: string;
  attempt?: number;
}

const read = ({ data }: SentEvent): Announced => JSON.parse(data) as Announced;

/** The `user_message` events without those of further attempts. */
export const firstAttempts = (chat: Conversation): SentEvent[] =>
  chat.named('user_message').filter((event) => read(event).attempt === undefined);

/**
 * Asserts that the stream reports each message and each successful turn once, in the order of
 * sending. A message whose container was lost may have further attempts.
 */
export function assertExactlyOnce(chat: Conversation, sent: string[]): void {
  const idsOf = (events: SentEvent[]): string[] => events.map((event) => read(event).messageId);
  expect(idsOf(firstAttempts(chat))).toEqual(sent);
  expect(idsOf(chat.named('turn_end'))).toEqual(sent);
  for (const { data } of chat.named('turn_end'))
    expect(JSON.parse(data)).toMatchObject({ exitCode: 0 });
}
