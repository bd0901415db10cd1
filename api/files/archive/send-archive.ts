import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import type { ApiDeps } from '../../deps.ts';
import { errors } from '../../schemas/envelope.ts';
import { attachmentHeaders } from '../attachment-headers.ts';
import { isNotModified } from '../not-modified.ts';
import type { ArchiveFormat } from './archive-formats.ts';
import { tarBytes, tarFiles } from './tar-files.ts';

export const archiveResponses = ({ mediaType }: ArchiveFormat) => ({
  200: z.custom<Readable>().meta({ type: 'string', format: 'binary', contentMediaType: mediaType }),
  304: z.unknown(),
  ...errors(400, 401, 403, 404, 429, 500, 503),
});

interface Archive {
  format: ArchiveFormat;
  entries: FileEntry[];
  etag: string;
  /** The name of the file to save, without its extension. */
  name: string;
}

export function sendArchive(
  { blobs }: Pick<ApiDeps, 'blobs'>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { format, entries, etag, name }: Archive,
) {
  request.handlerBytes = entries.length * entryBytes;
  reply.headers({
    ...attachmentHeaders(`${name}.${format.ending}`),
    'content-type': format.mediaType,
    etag,
  });
  if (isNotModified(request, etag)) return reply.code(304).send(null);
  if (!format.isCompressed) reply.header('content-length', tarBytes(entries));
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  return reply.send(archiveOf(blobs, format, entries));
}

/** A generous estimate of an entry in memory: typical paths are far shorter. */
const entryBytes = 512;

/** Fast compression: most time is spent in a few threads that all requests share. */
function archiveOf(
  blobs: ApiDeps['blobs'],
  { isCompressed }: ArchiveFormat,
  entries: FileEntry[],
): Readable {
  const archive = Readable.from(tarFiles(blobs, entries), { objectMode: false });
  if (!isCompressed) return archive;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // An error ends both streams, and reaches the client as an incomplete answer.
  return pipeline(archive, gzip, () => undefined);
}
