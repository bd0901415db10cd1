import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';

/**
 * Disconnects a peer that takes nothing of its answer for `stallMs`: an unread answer stays in
 * memory. Large answers are written in slices, because only a whole write shows that the peer
 * reads.
 */
export function installWriteDeadline(app: App, stallMs: number = limits.http.stallMs): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const onProgress = watchForStall(reply.raw, request.raw.socket, stallMs);
    return request.method === 'HEAD' ? payload : inSlices(reply, payload, onProgress);
  });
}

/** Returns a function that extends the deadline. */
function watchForStall(res: ServerResponse, socket: Socket, stallMs: number): () => void {
  const timer = setTimeout(check, stallMs);
  function check(): void {
    if (socket.destroyed) return;
    if (isUnread(res)) socket.destroy();
    else timer.refresh();
  }
  const extend = () => void timer.refresh();
  res.on('drain', extend);
  for (const end of ['finish', 'close']) {
    res.once(end, () => {
      res.off('drain', extend);
      clearTimeout(timer);
    });
  }
  return extend;
}

/** An answer without a socket waits for an earlier request of its connection, not for the peer. */
function isUnread(res: ServerResponse): boolean {
  return res.socket !== null && (res.writableEnded || res.writableNeedDrain);
}

const sliceBytes = limits.http.answerSliceBytes;

function inSlices(reply: FastifyReply, payload: unknown, onProgress: () => void): unknown {
  if (payload instanceof Readable) return streamOf(payload, onProgress);
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
  if (Buffer.byteLength(payload) <= sliceBytes) return payload;
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  reply.header('content-length', bytes.length);
  return streamOf([bytes], onProgress);
}

function streamOf(chunks: Readable | Buffer[], onProgress: () => void): Readable {
  const options = { objectMode: false, highWaterMark: sliceBytes };
  return Readable.from(slicesOf(chunks, onProgress), options);
}

/** The streams of routes are read from blobs, so their chunks are buffers. */
async function* slicesOf(chunks: AsyncIterable<Buffer> | Buffer[], onProgress: () => void) {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += sliceBytes) {
      onProgress();
      yield chunk.subarray(at, at + sliceBytes);
    }
  }
}
