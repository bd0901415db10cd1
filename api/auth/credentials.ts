import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

/**
 * The key that a request presents. Null if there is none, or if header and query differ: the weaker
 * of two credentials is never used.
 */
export function presentedKey(request: FastifyRequest): string | null {
  const fromHeader = hasConflictingHeaders(request.raw)
    ? null
    : headerKey(request.headers.authorization);
  if (request.routeOptions.config.acceptsKeyInQuery !== true) return fromHeader ?? null;
  const fromQuery = queryKey(request.query);
  if (fromHeader === undefined) return fromQuery ?? null;
  return fromQuery === undefined || fromQuery === fromHeader ? fromHeader : null;
}

/** Node exposes only the first of several `Authorization` headers. */
function hasConflictingHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  const values = rawHeaders.filter((_, at) => /^authorization$/i.test(rawHeaders[at - 1] ?? ''));
  return new Set(values).size > 1;
}

/** Undefined: not present. Null: present, but not a key. */
type Presented = string | null | undefined;

function headerKey(header: string | undefined): Presented {
  if (header === undefined) return undefined;
  return /^bearer +(\S+)$/i.exec(header)?.[1] ?? null;
}

function queryKey(query: unknown): Presented {
  const value = (query as { api_key?: unknown }).api_key; // a parsed query is always an object
  if (value === undefined) return undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}
