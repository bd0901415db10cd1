// A session that moves to another host: it finds its messages, its configuration, the files that it
// wrote and its conversation there.

import { expect } from 'vitest';
import type { Conversation } from '../../support/conversation.ts';
import { script } from '../../support/prompts.ts';

export const ownConfiguration = { env: { TOKEN: 'secret-word' } };

export const writeNotes = script([
  { write: { path: '/workspace/notes/a.txt', content: 'kept' } },
  { say: 'Written.' },
]);
/** Prints the conversation, files and configuration that it finds, and counts its turn. */
export const continueSession = script([
  { recall: true },
  { shell: 'echo once >> ran; cat notes/a.txt; echo " $TOKEN"; wc -l < ran' },
  { say: 'Continued.' },
]);

export function expectContinued({ events, named }: Conversation, from: number): void {
  const later = events.slice(from);
  const results = later.filter(({ event, data }) => event === 'user' && /tool_result/.test(data));
  expect(results.map(({ data }) => data).join()).toMatch(/kept secret-word\\n1/);
  const recalled = later.find(({ event, data }) => event === 'chat_output' && /notes/.test(data));
  expect(recalled?.data).toContain('/workspace/notes/a.txt');
  expect(named('turn_end')).toHaveLength(2);
}
