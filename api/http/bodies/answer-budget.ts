import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { limits } from '../../../core/limits.ts';
import { createByteBudget } from '../../../lib/async/byte-budget.ts';
import type { App } from '../../app-types.ts';
import { ApiError } from '../../errors.ts';
import { onAnswerEnd } from '../on-response-close.ts';
import { ownerOf } from './body-budget.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The largest answer of the route. It waits for memory before anything is read for it. */
    answerMaxBytes?: number;
  }
  interface FastifyRequest {
    /** Returns the memory reserved before the answer was made; null if none was. */
    releaseAnswer: (() => void) | null;
    /** Memory of the handler that the answer needs until it has ended, such as a list of files. */
    handlerBytes: number;
  }
}

/**
 * Limits the memory for large answers that clients have not read. Over the budget an answer waits,
 * then it is replaced by 503. A route with `answerMaxBytes` waits before it reads anything, because
 * reading pages for clients that take none would delay all others. Small answers of other routes
 * never wait. Neither do answers to other methods than GET: they report a change, which a 503 would
 * hide.
 */
export function installAnswerBudget(app: App, bounds = limits.http.answerBudget): void {
  const budget = createByteBudget(bounds);
  app.decorateRequest('releaseAnswer', null);
  app.decorateRequest('handlerBytes', 0);
  app.addHook('preHandler', async (request, reply) => {
    const bytes = request.routeOptions.config.answerMaxBytes;
    if (bytes === undefined || request.method !== 'GET') return;
    const release = await budget.reserve(ownerOf(request), bytes, { waitingBytes: 0 });
    if (release === null) throw tooManyUnread();
    request.releaseAnswer = release;
    onAnswerEnd(reply, release);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.method !== 'GET') return payload;
    const bytes = bytesInMemory(reply, payload) + request.handlerBytes;
    const reserved = request.releaseAnswer && request.routeOptions.config.answerMaxBytes;
    if (bytes <= (reserved ?? limits.http.smallAnswerMaxBytes)) return payload;
    request.releaseAnswer?.();
    const release = await budget.reserve(ownerOf(request), Math.min(bytes, bounds.ownerMaxBytes));
    if (release === null) return refuse(reply, payload);
    onAnswerEnd(reply, release);
    return payload;
  });
}

/** A stream keeps the chunk that is sent and the next one. A buffer is shared by all answers. */
function bytesInMemory(reply: FastifyReply, payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  if (!(payload instanceof Readable)) return 0;
  const length = Number(reply.getHeader('content-length') ?? Number.POSITIVE_INFINITY);
  return Math.min(length, 2 * limits.blob.chunkBytes);
}

function refuse(reply: FastifyReply, payload: unknown): never {
  if (payload instanceof Readable) payload.destroy();
  for (const name of contentHeaders) reply.removeHeader(name);
  reply.request.handlerBytes = 0; // the refusal must not wait for memory
  throw tooManyUnread();
}

const tooManyUnread = (): ApiError =>
  new ApiError('UPSTREAM_UNAVAILABLE', 'Too many large answers are unread. Retry later.');

/** Headers that describe the answer which is not sent. */
const contentHeaders = [
  'accept-ranges',
  'content-disposition',
  'content-range',
  'etag',
  'last-modified',
  'link',
];
