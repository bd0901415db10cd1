import type { IncomingMessage } from 'node:http';
import { errorCodes } from 'fastify';
import { limits } from '../../../core/limits.ts';

/** A body in memory. */
export interface ReceivedBody {
  bytes: Uint8Array;
  /** Returns the memory at once, not at the next garbage collection. `bytes` is empty then. */
  free: () => void;
}

/**
 * Receives a body into one buffer: chunks would be in memory twice while they are joined. Rejects
 * with an error of Fastify if the body is larger than `maxBytes`, or if its length differs from
 * its Content-Length.
 */
export async function receiveBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<ReceivedBody> {
  const expectedBytes = contentLengthOf(request);
  if ((expectedBytes ?? 0) > maxBytes) throw tooLarge();
  // Safe for any client: the memory of a new buffer is committed as bytes arrive.
  let buffer = new ArrayBuffer(expectedBytes ?? limits.http.smallBodyMaxBytes);
  let size = 0;
  await readChunks(request, (chunk) => {
    const needed = size + chunk.length;
    if (needed > maxBytes) throw tooLarge();
    if (needed > buffer.byteLength) buffer = buffer.transfer(Math.min(2 * needed, maxBytes));
    new Uint8Array(buffer).set(chunk, size);
    size = needed;
  });
  if (expectedBytes !== null && size !== expectedBytes)
    throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
  return { bytes: new Uint8Array(buffer, 0, size), free: () => void buffer.transfer(0) };
}

const tooLarge = (): Error => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();

/** Null for a chunked body, whose length is not known. */
function contentLengthOf({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

/**
 * Stops at the first error, also of `append`. Not `for await`: it destroys the request with its
 * socket, and the error response could not be sent.
 */
function readChunks(request: IncomingMessage, append: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      request.off('data', onData).off('end', settle).off('error', settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        append(chunk);
      } catch (error) {
        settle(error);
      }
    };
    request.on('data', onData).on('end', settle).on('error', settle);
  });
}
