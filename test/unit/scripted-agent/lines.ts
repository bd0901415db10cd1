import { type Fields, isFields } from '../../fixtures/scripted-agent/json.ts';

/** Type and subtype, or state, of each line. */
export function kindsOf(lines: readonly Fields[]): string[] {
  return lines.map((line) =>
    [line['type'], line['subtype'] ?? line['state']]
      .filter((word) => typeof word === 'string')
      .join(' '),
  );
}

/** The text blocks of all assistant lines. */
export function textsOf(lines: readonly Fields[]): string[] {
  return lines.flatMap((line) => {
    const message = line['type'] === 'assistant' ? line['message'] : undefined;
    const content = isFields(message) ? message['content'] : undefined;
    return Array.isArray(content) ? content.flatMap(textOf) : [];
  });
}

function textOf(block: unknown): string[] {
  return isFields(block) && typeof block['text'] === 'string' ? [block['text']] : [];
}
