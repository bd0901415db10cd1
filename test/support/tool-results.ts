import type { SentEvent } from './sent-events.ts';

/** The texts that the agent's tools returned, in order. */
export function toolResultsIn(events: readonly SentEvent[]): string[] {
  return events.filter(({ event }) => event === 'user').flatMap(({ data }) => resultsOf(data));
}

function resultsOf(data: string): string[] {
  const { message } = JSON.parse(data) as { message: { content: unknown } };
  if (!Array.isArray(message.content)) return [];
  return message.content.flatMap(({ type, content }) =>
    type === 'tool_result' ? [textOf(content)] : [],
  );
}

const textOf = (content: string | { text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('');
