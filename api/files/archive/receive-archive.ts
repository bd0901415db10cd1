import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';
import type { forKeys } from '../../auth/callers.ts';
import { ApiError, invalid } from '../../errors.ts';
import { receiveBody } from '../../http/bodies/receive-body.ts';
import { checkFiles, type DecodedFile } from '../input-files.ts';
import type { ArchiveFormat } from './archive-formats.ts';
import { readTar } from './read-tar.ts';

const mediaTypes = ['application/x-tar', 'application/gzip', 'application/octet-stream'];

/** The routes of this scope receive archives as a `Buffer`, and no JSON. */
export function installArchiveBody(scope: App): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    mediaTypes,
    async ({ headers, routeOptions }: FastifyRequest, payload: IncomingMessage) => {
      if (!/^identity$/i.test(headers['content-encoding'] ?? 'identity')) throw wrongType();
      const { bytes } = await receiveBody(payload, routeOptions.bodyLimit);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
  );
  scope.addContentTypeParser('*', async () => {
    throw wrongType();
  });
}

const wrongType = () =>
  invalid(`The body must be an archive with the content type ${mediaTypes.join(' or ')}.`, {
    status: 415,
  });

export const archiveBody = z.custom<Buffer>().meta({ type: 'string', format: 'binary' });

/** The options of a route that receives archives. */
export const archiveOptions = (
  { isCompressed }: ArchiveFormat,
  access: ReturnType<typeof forKeys>,
) => ({
  bodyLimit: limits.http.archiveMaxBytes,
  config: {
    ...access,
    ...(isCompressed ? { unpackedMaxBytes: limits.http.archiveMaxBytes } : {}),
  },
});

/** The files of an archive, within the limits of a request. */
export async function readArchive(
  { isCompressed }: ArchiveFormat,
  body: unknown,
): Promise<DecodedFile[]> {
  if (!Buffer.isBuffer(body)) throw invalid('body: must be an archive');
  const files = readTar(isCompressed ? await unzip(body) : body);
  checkFiles(files, 'body');
  return files;
}

/** Stops as soon as the archive is too large, so a small body cannot fill the memory. */
async function unzip(compressed: Buffer): Promise<Buffer> {
  const maxBytes = limits.http.archiveMaxBytes;
  // The system commits this memory as bytes arrive.
  const archive = Buffer.allocUnsafeSlow(maxBytes);
  const gunzip = createGunzip();
  let size = 0;
  gunzip.end(compressed);
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      if (size + part.length > maxBytes) throw tooLarge();
      size += part.copy(archive, size);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw notGzip();
  }
  // Not all versions of Node reject data after the end.
  if (gunzip.bytesWritten !== compressed.length) throw notGzip();
  return archive.subarray(0, size);
}

const notGzip = () =>
  invalid('body: is not compressed by gzip, is incomplete, or has data after its end');

const tooLarge = () =>
  new ApiError('PAYLOAD_TOO_LARGE', 'The archive in the request body is too large.');
