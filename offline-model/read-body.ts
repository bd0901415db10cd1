import type { IncomingMessage } from 'node:http';
import { ApiError } from './api-error.ts';

const maxBytes = 32 * 1024 * 1024;

/** Reads a body over the limit to its end as well, so that the client receives the error. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) throw new ApiError(413);
  return Buffer.concat(chunks).toString('utf8');
}
