import type { MessageReply, Part, StopReason, UsageNumbers } from './reply.ts';

/** A content block as the API sends it. */
export type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: Readonly<Record<string, unknown>> };

export interface Envelope {
  /** Part of the ids of the message and its tool calls. The same conversation gets the same ids. */
  fingerprint: string;
  model: string;
  usage: UsageNumbers;
}

export const signature = Buffer.from('signed by the offline model').toString('base64');

export function blockOf(part: Part, index: number, fingerprint: string): Block | undefined {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'thinking':
      return { type: 'thinking', thinking: part.thinking, signature };
    case 'tool':
      return {
        type: 'tool_use',
        id: `toolu_${fingerprint}${index}`,
        name: part.name,
        input: part.input,
      };
    case 'delay':
    case 'cut':
      return undefined;
  }
}

export function messageBody(reply: MessageReply, envelope: Envelope) {
  const content = reply.parts.flatMap(
    (part, index) => blockOf(part, index, envelope.fingerprint) ?? [],
  );
  return {
    ...emptyMessage(envelope),
    content,
    stop_reason: reply.stopReason,
    usage: envelope.usage,
  };
}

export function emptyMessage({ fingerprint, model, usage }: Envelope) {
  return {
    id: `msg_${fingerprint}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [] as Block[],
    stop_reason: null as StopReason | null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
}
