import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import { ApiError, type ErrorCode, envelopeOf, invalid } from '../errors.ts';
import type { ApiMetrics } from '../metrics.ts';
import { routeOf } from './request-log.ts';

interface ParserErrorDeps {
  newId: () => string;
  now: () => Date;
  logger: FastifyBaseLogger;
  metrics: Pick<ApiMetrics, 'answered'>;
  inFlight: InFlightRequests;
}

/**
 * A request that Node's parser rejects never reaches Fastify. Its answer is written to the socket
 * with the same envelope and headers as every other. If the parser rejects the rest of a request
 * that was routed already, that request's log line and ID are used.
 */
export function createParserErrorHandler({
  newId,
  now,
  logger,
  metrics,
  inFlight,
}: ParserErrorDeps) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    const current = inFlight.get(socket);
    // Bytes written now would become a part of the answer that is being sent.
    if (error.code === 'ECONNRESET' || !socket.writable || isBeingAnswered(current)) {
      socket.destroy();
      return;
    }
    const apiError = errorFor(error.code);
    const { statusCode: status, code } = apiError;
    if (current === undefined) {
      const requestId = newId();
      recordUnroutedRequest({ logger, metrics }, { requestId, method: null, status, code });
      sendLast(socket, rawResponse(requestId, apiError, now()));
      return;
    }
    const { request } = current;
    // The rest of a rejected body may still arrive, and must start nothing.
    request.raw.removeAllListeners('end');
    request.errorCode = code;
    const { method, id } = request;
    metrics.answered({ method, route: routeOf(request), status, code, seconds: null });
    sendLast(socket, rawResponse(id, apiError, now()));
  };
}

/** A client that does not close its connection then is disconnected. */
function sendLast(socket: Socket, response: string): void {
  socket.end(response);
  setTimeout(() => socket.destroy(), limits.http.closeTimeoutMs).unref();
}

/** The last request of a connection, until it is received completely and answered. */
export interface InFlightRequest {
  request: FastifyRequest;
  reply: FastifyReply;
}

type InFlightRequests = WeakMap<Socket, InFlightRequest>;

/** A request that is answered early stays in flight: the rest of it is still being received. */
export function trackInFlightRequests(app: App, inFlight: InFlightRequests): void {
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    const { socket } = raw;
    inFlight.set(socket, { request, reply });
    reply.raw.once('close', () => {
      if (raw.complete && inFlight.get(socket)?.request === request) inFlight.delete(socket);
    });
  });
}

/** Logs and counts a request that was rejected before any route or hook saw it. */
export function recordUnroutedRequest(
  { logger, metrics }: { logger: FastifyBaseLogger; metrics: Pick<ApiMetrics, 'answered'> },
  rejected: { requestId: string; method: string | null; status: number; code: ErrorCode | null },
): void {
  const { method, status, code } = rejected;
  logger.info({ ...rejected, route: null }, 'request');
  metrics.answered({ method: method ?? 'none', route: null, status, code, seconds: null });
}

function isBeingAnswered(current: InFlightRequest | undefined): boolean {
  return current !== undefined && (current.request.raw.complete || current.reply.raw.headersSent);
}

function rawResponse(requestId: string, error: ApiError, now: Date): string {
  const body = JSON.stringify(envelopeOf(error));
  const head = [
    `HTTP/1.1 ${error.statusCode} ${reasons[error.statusCode] ?? 'Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    `X-Request-Id: ${requestId}`,
    `X-RateLimit-Limit: ${limits.key.ratePerMinute}`,
    `X-RateLimit-Remaining: ${limits.key.ratePerMinute}`,
    `X-RateLimit-Reset: ${Math.ceil(now.getTime() / 1_000)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const reasons: Record<number, string> = {
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

function errorFor(code: string | undefined): ApiError {
  switch (code) {
    case 'CONNECT':
      return new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is not supported.');
    case 'HPE_HEADER_OVERFLOW':
      return invalid('The request headers are too large.', { status: 431 });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return invalid('The request was not received in time.', { status: 408 });
    default:
      return invalid('The request is not valid HTTP.');
  }
}
