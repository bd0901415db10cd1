import type { Fields } from './json.ts';

const pieceLength = 20;

/** The token-level lines around an assistant line: a message of one block. */
export function streamEvents(
  message: Fields,
  block: Fields,
): { before: Fields[]; after: Fields[] } {
  const isTool = block['type'] === 'tool_use';
  return {
    before: [
      { type: 'message_start', message: { ...message, content: [] } },
      { type: 'content_block_start', index: 0, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    ].map(wrapped),
    after: [
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: isTool ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: 'message_stop' },
    ].map(wrapped),
  };
}

function wrapped(event: Fields): Fields {
  return { type: 'stream_event', event, parent_tool_use_id: null };
}

function emptied(block: Fields): Fields {
  if (block['type'] === 'text') return { type: 'text', text: '' };
  if (block['type'] === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block: Fields): Fields[] {
  if (block['type'] === 'text') {
    return pieces(block['text']).map((text) => ({ type: 'text_delta', text }));
  }
  if (block['type'] === 'thinking') {
    return [
      ...pieces(block['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block['signature'] },
    ];
  }
  return pieces(JSON.stringify(block['input'])).map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }));
}

function pieces(text: unknown): string[] {
  return String(text).match(new RegExp(`[^]{1,${pieceLength}}`, 'gu')) ?? [];
}
