import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { limits } from '../../core/limits.ts';
import { ApiError, envelopeOf, invalid } from '../errors.ts';
import type { ApiMetrics } from '../metrics.ts';
import type { InFlightRequest, InFlightRequests } from './in-flight-requests.ts';
import { routeOf } from './request-log.ts';
import { recordUnroutedRequest } from './unrouted.ts';

export interface ParserErrorDeps {
  newId: () => string;
  now: () => Date;
  logger: FastifyBaseLogger;
  metrics: Pick<ApiMetrics, 'answered'>;
  inFlight: InFlightRequests;
}

/**
 * What Node's parser refuses never becomes a request: the answer is written to the socket by hand,
 * in the same envelope and with the same headers as every other. Where it refuses the rest of a
 * request that was routed already, that one has its line and its id, and this answer the same id.
 */
export function createParserErrorHandler({
  newId,
  now,
  logger,
  metrics,
  inFlight: inHand,
}: ParserErrorDeps) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    const known = inHand.get(socket);
    // By hand, it would be read as a part of the answer that is on its way, or in its place.
    if (error.code === 'ECONNRESET' || !socket.writable || hasStartedAnswer(known)) {
      socket.destroy();
      return;
    }
    const refusal = errorFor(error.code);
    const { statusCode: status, code } = refusal;
    if (known === undefined) {
      const requestId = newId();
      recordUnroutedRequest({ logger, metrics }, { requestId, method: null, status, code });
      socket.end(rawResponse(requestId, refusal, now()));
      return;
    }
    const { request } = known;
    request.errorCode = code;
    const { method, id } = request;
    metrics.answered({ method, route: routeOf(request), status, code, seconds: null });
    socket.end(rawResponse(id, refusal, now()));
  };
}

function hasStartedAnswer(known: InFlightRequest | undefined): boolean {
  return known !== undefined && (known.request.raw.complete || known.reply.raw.headersSent);
}

function rawResponse(requestId: string, refusal: ApiError, now: Date): string {
  const body = JSON.stringify(envelopeOf(refusal));
  const head = [
    `HTTP/1.1 ${refusal.statusCode} ${reasons[refusal.statusCode] ?? 'Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    `X-Request-Id: ${requestId}`,
    `X-RateLimit-Limit: ${limits.keyRatePerMinute}`,
    `X-RateLimit-Remaining: ${limits.keyRatePerMinute}`,
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
      return new ApiError('METHOD_NOT_ALLOWED', 'This service is no proxy.');
    case 'HPE_HEADER_OVERFLOW':
      return invalid('The request headers are too large.', { status: 431 });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return invalid('The request did not arrive in time.', { status: 408 });
    default:
      return invalid('The request is not well-formed HTTP.');
  }
}
