import type { FastifyRequest } from 'fastify';
import { limits } from '../../../core/limits.ts';
import { createByteBudget } from '../../../lib/async/byte-budget.ts';
import type { App } from '../../app-types.ts';
import { ApiError } from '../../errors.ts';
import { onAnswerEnd } from '../on-response-close.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The memory that a compressed body may need in addition. */
    unpackedMaxBytes?: number;
  }
  interface FastifyRequest {
    /**
     * Returns the memory reserved for the body; null for a small body. Called after the answer, or
     * earlier once the body is not used any more.
     */
    releaseBody: (() => void) | null;
  }
}

/**
 * Limits the memory of this process for large bodies. Over the budget a request waits before its
 * body is read, and gets 503 after `waitMs`. Small bodies are not counted and never wait.
 */
export function installBodyBudget(app: App, bounds = limits.http.bodyBudget): void {
  const budget = createByteBudget(bounds);
  app.decorateRequest('releaseBody', null);
  app.addHook('preParsing', async (request, reply) => {
    const bytes = bytesToReserve(request);
    if (bytes === 0) return;
    const release = await budget.reserve(ownerOf(request), bytes);
    if (release === null)
      throw new ApiError('UPSTREAM_UNAVAILABLE', 'Too many large requests. Retry later.');
    request.releaseBody = release;
    onAnswerEnd(reply, release);
  });
}

/** The key. Operators have none: all of them together have the share of one key. */
export const ownerOf = ({ caller }: FastifyRequest): string => caller?.key.keyId ?? 'operators';

/**
 * Zero for a small body, and for one that is rejected unread because it is over its limit. A
 * chunked body has no known length, so it counts as the largest.
 */
function bytesToReserve({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const bytes = isChunked ? limit : Number(headers['content-length'] ?? 0);
  if (bytes > limit) return 0;
  const bytesInMemory = bytes + (routeOptions.config.unpackedMaxBytes ?? 0);
  return bytesInMemory > limits.http.smallBodyMaxBytes ? bytesInMemory : 0;
}
