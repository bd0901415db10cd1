import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Block, blockOf, type Envelope, emptyMessage, signature } from './message-body.ts';
import type { MessageReply } from './reply.ts';

interface StreamOptions extends Envelope {
  deltaMs: number;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

const pingEveryMs = 10_000;
const maxPieces = 400;
const flushMs = 50;

/**
 * Sends a reply as an event stream of the API. A delay sends pings; a cut closes the connection, as
 * a network failure does.
 */
export async function streamReply(
  response: ServerResponse,
  reply: MessageReply,
  options: StreamOptions,
): Promise<void> {
  const { deltaMs, signal, fingerprint, usage } = options;
  const send = createSender(response, signal);
  await send('message_start', { message: emptyMessage(options) });
  await send('ping', {});
  let index = 0;
  for (const [position, part] of reply.parts.entries()) {
    if (part.kind === 'cut') return await closeEarly(response, signal);
    if (part.kind === 'delay') await delay(part.delayMs, { send, signal });
    const block = blockOf(part, position, fingerprint);
    if (block === undefined) continue;
    await sendBlock(block, { index, deltaMs, send, signal });
    index += 1;
  }
  await send('message_delta', {
    delta: { stop_reason: reply.stopReason, stop_sequence: null },
    usage,
  });
  await send('message_stop', {});
  response.end();
}

/** Waits, so that the events sent so far reach the client before the connection closes. */
async function closeEarly(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await sleep(flushMs, undefined, { signal });
  response.destroy();
}

type Send = (type: string, fields: Readonly<Record<string, unknown>>) => Promise<void>;

function createSender(response: ServerResponse, signal: AbortSignal): Send {
  return async (type, fields) => {
    signal.throwIfAborted();
    const data = JSON.stringify({ type, ...fields });
    if (!response.write(`event: ${type}\ndata: ${data}\n\n`)) {
      await once(response, 'drain', { signal });
    }
  };
}

async function delay(ms: number, { send, signal }: { send: Send; signal: AbortSignal }) {
  for (let left = ms; left > 0; left -= pingEveryMs) {
    await sleep(Math.min(left, pingEveryMs), undefined, { signal });
    if (left > pingEveryMs) await send('ping', {});
  }
}

interface BlockOptions {
  index: number;
  deltaMs: number;
  send: Send;
  signal: AbortSignal;
}

async function sendBlock(block: Block, { index, deltaMs, send, signal }: BlockOptions) {
  await send('content_block_start', { index, content_block: withoutContent(block) });
  for (const delta of deltasOf(block)) {
    if (deltaMs > 0) await sleep(deltaMs, undefined, { signal });
    await send('content_block_delta', { index, delta });
  }
  await send('content_block_stop', { index });
}

function withoutContent(block: Block) {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
  }
}

function deltasOf(block: Block): Readonly<Record<string, unknown>>[] {
  switch (block.type) {
    case 'text':
      return pieces(block.text).map((text) => ({ type: 'text_delta', text }));
    case 'thinking':
      return [
        ...pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ];
    case 'tool_use':
      return ['', ...pieces(JSON.stringify(block.input))].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
  }
}

/**
 * Splits a text into short pieces, and a very long one into larger ones, never within a character.
 */
function pieces(text: string): string[] {
  const size = Math.max(12, Math.ceil(text.length / maxPieces));
  return text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
}
