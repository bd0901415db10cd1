import type { FastifyRequest } from 'fastify';
import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';
import { ApiError } from '../../errors.ts';
import { createByteBudget } from './byte-budget.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Called when the body is not used any more, at the latest after the answer. */
    releaseBody: (() => void) | null;
  }
}

/**
 * Limits the memory for large bodies. Over the budget a request waits unread, then it gets 503.
 * Small bodies never wait.
 */
export function installBodyBudget(app: App, bounds = limits.http.bodyBudget): void {
  const budget = createByteBudget(bounds);
  app.decorateRequest('releaseBody', null);
  app.addHook('preParsing', async (request, reply) => {
    const bytes = bytesToReserve(request);
    if (bytes === 0) return;
    const release = await budget.reserve(request.caller?.key.keyId ?? 'operators', bytes);
    if (release === null)
      throw new ApiError('UPSTREAM_UNAVAILABLE', 'Too many large requests. Retry later.');
    request.releaseBody = release;
    if (request.raw.socket.destroyed) release();
    else reply.raw.once('close', release);
  });
}

/** Zero for a small body, and for one that is rejected unread because it is over its limit. */
function bytesToReserve({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const bytes = isChunked ? limit : Number(headers['content-length'] ?? 0);
  return bytes > limits.http.smallBodyMaxBytes && bytes <= limit ? bytes : 0;
}
