import type { IncomingMessage } from 'node:http';
import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';

interface Pace {
  checkMs: number;
  stallMs: number;
  graceMs: number;
  minBytesPerSecond: number;
}

interface Upload {
  request: IncomingMessage;
  /** Bytes that the connection had received at the last check. */
  seenBytes: number;
  receivedBytes: number;
  readMs: number;
  stalledMs: number;
}

/**
 * Rejects with 408 a body that stalls or arrives too slowly. If an answer has begun, the client is
 * disconnected instead. Only the time counts in which the service reads: a body that waits for
 * memory is unread. Checks are counted, not clock time, so a busy or frozen process blames no
 * client.
 */
export function installBodyPace(app: App, pace: Pace = limits.http.bodyPace): void {
  const uploads = new Set<Upload>();
  app.server.on('request', (request: IncomingMessage) => {
    if (!hasBody(request)) return;
    const seenBytes = request.socket.bytesRead;
    const upload = { request, seenBytes, receivedBytes: 0, readMs: 0, stalledMs: 0 };
    uploads.add(upload);
    request.once('close', () => uploads.delete(upload));
  });
  const timer = setInterval(() => {
    for (const upload of uploads) {
      if (!isTooSlow(upload, pace)) continue;
      uploads.delete(upload);
      const error = Object.assign(new Error('body too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      app.server.emit('clientError', error, upload.request.socket);
    }
  }, pace.checkMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function isTooSlow(upload: Upload, pace: Pace): boolean {
  const { request } = upload;
  const newBytes = request.socket.bytesRead - upload.seenBytes;
  upload.seenBytes += newBytes;
  upload.receivedBytes += newBytes;
  const isBeingRead = request.readableFlowing === true && !request.complete;
  if (!isBeingRead) return false;
  upload.readMs += pace.checkMs;
  upload.stalledMs = newBytes > 0 ? 0 : upload.stalledMs + pace.checkMs;
  const requiredBytes = ((upload.readMs - pace.graceMs) / 1_000) * pace.minBytesPerSecond;
  return upload.stalledMs >= pace.stallMs || upload.receivedBytes < requiredBytes;
}
