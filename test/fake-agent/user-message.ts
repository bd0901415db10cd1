import { type Fields, isFields } from './json.ts';

export interface UserMessage {
  uuid: string;
  text: string;
}

/** The message in a line of input, or undefined where the line is none. */
export function readUserMessage(line: Fields, newId: () => string): UserMessage | undefined {
  const message = line['message'];
  if (line['type'] !== 'user' || !isFields(message)) return undefined;
  const text = textOf(message['content']);
  if (text === undefined) return undefined;
  return { uuid: typeof line['uuid'] === 'string' ? line['uuid'] : newId(), text };
}

function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return content.map(blockText).join('\n');
}

function blockText(block: unknown): string {
  return isFields(block) && typeof block['text'] === 'string' ? block['text'] : '';
}
