import type { FastifyReply } from 'fastify';
import { limits } from '../../core/limits.ts';

export function pageLimit(query: { limit?: number | undefined }): number {
  return query.limit ?? limits.page.defaultItems;
}

interface PageRequest {
  /** The URL of the list. */
  url: string;
  query: { limit?: number | undefined; cursor?: string | undefined };
}

/** Reads the requested page, and links the next one if there is one. */
export async function readPage<Page extends { next: string | null }>(
  reply: FastifyReply,
  { url, query }: PageRequest,
  read: (range: { limit: number; after?: string }) => Promise<Page>,
): Promise<Page> {
  const { cursor } = query;
  const limit = pageLimit(query);
  const page = await read({ limit, ...(cursor === undefined ? {} : { after: cursor }) });
  if (page.next !== null) linkNext(reply, url, { limit, cursor: page.next });
  return page;
}

/** The URL of the next page is in the `Link` header, never in the body. */
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
