import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/** The origins whose pages may read answers in a browser. */
export type CorsOrigins = 'any' | readonly string[];

/**
 * Lets pages of other origins call `/api/v1` with a key. No answer allows credentials, so cookies
 * are never used. Runs before authentication: a preflight carries no key, and a browser can read an
 * error only if the error has these headers.
 */
export function installCors(app: App, origins: CorsOrigins): void {
  app.addHook('onRequest', async (request, reply) => {
    setCorsHeaders(request, reply, origins);
    if (!isPreflight(request)) return;
    return reply.code(204).headers(preflightHeaders).send();
  });
}

/** Also used for answers that are sent before any hook has run. */
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

/** With `any` the answer is the same for every origin, so that caches may store it. */
function allowedOrigin(origin: string | undefined, origins: CorsOrigins): string | null {
  if (origins === 'any') return '*';
  return origin !== undefined && origins.includes(origin) ? origin : null;
}

function isPreflight({ method, url, headers }: FastifyRequest): boolean {
  const isCorsRequest = headers.origin !== undefined && 'access-control-request-method' in headers;
  return method === 'OPTIONS' && isCorsRequest && isBelowApi(url);
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

/** The star covers every header except Authorization, which must be listed. */
const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, *',
  'access-control-max-age': '7200',
};
