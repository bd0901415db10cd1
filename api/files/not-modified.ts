import type { FastifyRequest } from 'fastify';

/** Whether the client has the current version already. */
export function isNotModified({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  return known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}
