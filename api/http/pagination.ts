import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { queryNumber } from '../schemas/text.ts';

/** The query of a list. */
export const pageQuery = {
  limit: queryNumber({ min: 1, max: limits.pageMax }).optional(),
  cursor: z
    .string()
    .max(2_000)
    .optional()
    .meta({ description: 'From the `Link` header of the page before.' }),
};

/** The query of a list whose cursor is the id that the page before ended with. */
export const pageByIdQuery = z.strictObject({
  ...pageQuery,
  cursor: z.uuid({ error: 'is no cursor of this list' }).optional(),
});

export function pageLimit(query: { limit?: number | undefined }): number {
  return query.limit ?? limits.pageDefault;
}

interface PageRequest {
  /** Of the list. */
  url: string;
  query: { limit?: number | undefined; cursor?: string | undefined };
}

/** The page that was asked for; where another follows, the answer says where. */
export async function readPage<Page extends { next: string | null }>(
  reply: FastifyReply,
  { url, query }: PageRequest,
  read: (wanted: { limit: number; after?: string }) => Promise<Page>,
): Promise<Page> {
  const { cursor } = query;
  const limit = pageLimit(query);
  const page = await read({ limit, ...(cursor === undefined ? {} : { after: cursor }) });
  if (page.next !== null) linkNext(reply, url, { limit, cursor: page.next });
  return page;
}

/** The next page's address is where clients find it, never in the body. */
export function linkNext(
  reply: FastifyReply,
  url: string,
  query: Record<string, string | number | string[] | undefined>,
): void {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) search.append(name, String(each));
  }
  reply.header('link', `<${url}?${search.toString()}>; rel="next"`);
}

export const encodeCursor = (place: string) => Buffer.from(place).toString('base64url');

export function decodeCursor(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
}
