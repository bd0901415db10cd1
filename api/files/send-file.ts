import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FileEntry } from '../../core/files/file-entry.ts';
import { checkFilePath } from '../../core/files/file-path.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { errors } from '../schemas/envelope.ts';
import { type ByteRange, byteRange } from './byte-range.ts';
import { nameOf } from './file-view.ts';
import { isNotModified } from './not-modified.ts';

const fileContent = z.custom<Readable>().meta({ type: 'string', format: 'binary' });

/** The responses of an endpoint that calls `sendFile`. */
export const fileResponses = {
  200: fileContent,
  206: fileContent,
  304: z.unknown(),
  ...errors(400, 401, 403, 404, 416, 429, 500, 503),
};

/** The path of a file in a URL. Throws if the interface does not permit it. */
export function checkedPath(path: string): string {
  const check = checkFilePath(path);
  if (!check.ok) throw invalid(`path: ${check.reason}`);
  return path;
}

type Stored = Omit<FileEntry, 'scope'>;

/** Raw bytes, with headers that stop browsers from rendering them or guessing their type. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, blobs }: { file: Stored; blobs: ApiDeps['blobs'] },
) {
  if (isNotModified(request, etagOf(file)))
    return reply.code(304).headers(fileHeaders(file)).send(null);
  const part = requestedRange(request, file);
  reply.headers({ ...fileHeaders(file), 'content-length': part.end - part.start });
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  if (part.end - part.start < file.size) setContentRange(reply, part, file.size);
  return reply.send(Readable.from(blobs.read(file.sha256, part), { objectMode: false }));
}

function fileHeaders(file: Stored): Record<string, string> {
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(nameOf(file.path))}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    'last-modified': file.modifiedAt.toUTCString(),
    etag: etagOf(file),
  };
}

const etagOf = (file: Stored) => `"${file.sha256}"`;

/** A range of an outdated version (`If-Range`) is answered with the whole current file. */
function requestedRange(request: FastifyRequest, file: Stored): ByteRange {
  const whole = { start: 0, end: file.size };
  if (request.method === 'HEAD') return whole; // ranges apply to GET only
  const ifRange = request.headers['if-range'];
  if (ifRange !== undefined && ifRange !== etagOf(file)) return whole;
  const range = byteRange(request.headers.range, file.size);
  if (range !== 'none') return range ?? whole;
  throw new ApiError('RANGE_NOT_SATISFIABLE', `The file has ${file.size} bytes.`, {
    headers: { 'content-range': `bytes */${file.size}` },
  });
}

function setContentRange(reply: FastifyReply, { start, end }: ByteRange, size: number): void {
  reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
}

/** RFC 8187: encodeURIComponent leaves these characters, but they are not allowed in a token. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
