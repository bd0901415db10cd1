import type { MessageReply, Part, UsageNumbers } from './reply.ts';
import type { MessagesRequest } from './request.ts';

const charsPerToken = 4;

/** Derives tokens from lengths, so that the same conversation always has the same cost. */
export function usageOf(request: MessagesRequest, reply: MessageReply): UsageNumbers {
  const written = reply.parts.reduce((sum, part) => sum + lengthOf(part), 0);
  return {
    input_tokens: inputTokens(request),
    output_tokens: Math.max(1, Math.ceil(written / charsPerToken)),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    ...reply.usage,
  };
}

export function inputTokens({ system, tools, messages }: MessagesRequest): number {
  return Math.ceil(JSON.stringify({ system, tools, messages }).length / charsPerToken);
}

function lengthOf(part: Part): number {
  switch (part.kind) {
    case 'text':
      return part.text.length;
    case 'thinking':
      return part.thinking.length;
    case 'tool':
      return part.name.length + JSON.stringify(part.input).length;
    case 'delay':
    case 'cut':
      return 0;
  }
}
