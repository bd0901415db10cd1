import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { queryNumber } from './schemas/text.ts';

/** The query of a list. */
export const pageQuery = {
  limit: queryNumber({ min: 1, max: limits.pageMax }).optional(),
  cursor: z
    .string()
    .max(2_000)
    .optional()
    .meta({ description: 'From the `Link` header of the page before.' }),
};

export function pageLimit(query: { limit?: number | undefined }): number {
  return query.limit ?? limits.pageDefault;
}

/** The next page's address is where clients find it, never in the body. */
export function linkNext(
  reply: FastifyReply,
  url: string,
  query: Record<string, string | number | undefined>,
): void {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  reply.header('link', `<${url}?${search.toString()}>; rel="next"`);
}

export const encodeCursor = (place: string) => Buffer.from(place).toString('base64url');

export function decodeCursor(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
}
