import type { FastifyReply } from 'fastify';
import { limits } from '../../core/limits.ts';
import type { TokenAnswer } from '../../core/token-bucket.ts';
import type { App } from '../app-types.ts';
import { ApiError } from '../errors.ts';

interface TokenTaker {
  take: (keyId: string, perMinute: number) => Promise<TokenAnswer>;
}

/** Sets the headers that every answer has. */
export function installCommonHeaders(app: App, now: () => Date): void {
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(reply, request.id, now());
  });
}

/** Also used for answers that are sent before any hook has run. */
export function setCommonHeaders(reply: FastifyReply, requestId: string, now: Date): void {
  reply.header('x-request-id', requestId);
  setRateHeaders(reply, {
    limit: limits.key.ratePerMinute,
    remaining: limits.key.ratePerMinute,
    resetAtSeconds: Math.ceil(now.getTime() / 1_000),
  });
}

/** Every call with an active key takes a token, even if the rest of the request is invalid. */
export function installRateLimit(app: App, rateLimiter: TokenTaker): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.caller === null) return;
    const { keyId, rateLimitRpm } = request.caller.key;
    const answer = await rateLimiter.take(keyId, rateLimitRpm);
    setRateHeaders(reply, answer);
    if (answer.allowed) return;
    throw new ApiError('RATE_LIMITED', 'Too many requests with this API key.', {
      headers: { 'retry-after': String(Math.max(1, answer.retryAfterSeconds)) },
    });
  });
}

type RateNumbers = Pick<TokenAnswer, 'limit' | 'remaining' | 'resetAtSeconds'>;

function setRateHeaders(reply: FastifyReply, numbers: RateNumbers): void {
  reply.header('x-ratelimit-limit', String(numbers.limit));
  reply.header('x-ratelimit-remaining', String(numbers.remaining));
  reply.header('x-ratelimit-reset', String(numbers.resetAtSeconds));
}
