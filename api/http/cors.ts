import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/** Which pages of other origins a browser lets in: those of a list, or all of them. */
export type CorsOrigins = 'any' | readonly string[];

/**
 * Lets pages of other origins call what lies below `/api/v1`, by key and never by cookie: no answer
 * allows credentials. Stands before authentication, since a browser asks beforehand without a key,
 * and reads a refusal, too, only where the refusal itself says that it may.
 */
export function cors(app: App, origins: CorsOrigins): void {
  app.addHook('onRequest', async (request, reply) => {
    setCorsHeaders(request, reply, origins);
    if (!isPreflight(request)) return;
    return reply.code(204).headers(preflightHeaders).send();
  });
}

/** For answers that are given before any hook has run, too. */
export function setCorsHeaders(
  request: Pick<FastifyRequest, 'url' | 'headers'>,
  reply: FastifyReply,
  origins: CorsOrigins,
): void {
  if (!isBelowApi(request.url)) return;
  const allowed = allowedOrigin(request.headers.origin, origins);
  if (origins !== 'any') reply.header('vary', 'Origin');
  if (allowed === null) return;
  reply.header('access-control-allow-origin', allowed);
  reply.header('access-control-expose-headers', exposedHeaders);
}

/** For any origin the answer is the same whoever asks, so that caches may keep it. */
function allowedOrigin(origin: string | undefined, origins: CorsOrigins): string | null {
  if (origins === 'any') return '*';
  return origin !== undefined && origins.includes(origin) ? origin : null;
}

function isPreflight({ method, url, headers }: FastifyRequest): boolean {
  const asks = headers.origin !== undefined && 'access-control-request-method' in headers;
  return method === 'OPTIONS' && asks && isBelowApi(url);
}

const isBelowApi = (url: string) => /^\/api\/v1(\/|\?|$)/.test(url);

const exposedHeaders = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Location',
  'Link',
  'Idempotency-Replayed',
  'Session-Resumed',
  'ETag',
  'Content-Disposition',
  'Content-Range',
].join(', ');

/** The star stands for every header but Authorization, which has to be named. */
const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, *',
  'access-control-max-age': '7200',
};
