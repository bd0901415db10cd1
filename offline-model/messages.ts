import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from './api-error.ts';
import { type Conversation, readConversation } from './conversation.ts';
import { streamReply } from './event-stream.ts';
import { messageBody } from './message-body.ts';
import { nextReply } from './replies/next-reply.ts';
import type { MessageReply } from './reply.ts';
import type { MessagesRequest, RouteContext } from './request.ts';
import { usageOf } from './usage.ts';

/** Handles `POST /v1/messages`, with a stream or a single response. */
export async function respondToMessages(
  response: ServerResponse,
  request: MessagesRequest,
  { attempts, deltaMs, fallbackScript }: RouteContext,
): Promise<void> {
  const conversation = readConversation(request);
  const reply = nextReply(conversation, {
    attempt: attempts.count(positionOf(conversation)),
    ...(fallbackScript !== undefined && { fallbackScript }),
  });
  if (reply.kind === 'error') {
    throw new ApiError(reply.status, reply.message, reply.retryAfterSeconds);
  }
  const envelope = {
    fingerprint: hash([conversation.sessionId, request.messages]).slice(0, 22),
    model: request.model,
    usage: usageOf(request, reply),
  };
  const signal = closeSignal(response);
  try {
    if (request.stream !== true) return await sendWhole(response, reply, { envelope, signal });
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
    await streamReply(response, reply, { ...envelope, deltaMs, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Identifies a reply within its conversation. A repeated request has the same position. */
function positionOf({ sessionId, earlierPrompts, prompt, rounds }: Conversation): string {
  return hash([sessionId, earlierPrompts.length, prompt, rounds]);
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function closeSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  response.on('close', () => closed.abort());
  return closed.signal;
}

async function sendWhole(
  response: ServerResponse,
  reply: MessageReply,
  { envelope, signal }: { envelope: Parameters<typeof messageBody>[1]; signal: AbortSignal },
) {
  for (const part of reply.parts) {
    if (part.kind === 'cut') return void response.destroy();
    if (part.kind === 'delay') await sleep(part.delayMs, undefined, { signal });
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(messageBody(reply, envelope)));
}
