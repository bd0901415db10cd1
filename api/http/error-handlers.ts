import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, envelopeOf, invalid } from '../errors.ts';

/**
 * The only place where an error becomes an answer. Unexpected errors are logged and never shown.
 */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = isAborted(error, request) ? invalid('The request was aborted.') : asApiError(error);
  logFailure(request, error, known);
  request.errorCode = known.code;
  void reply
    .code(known.statusCode)
    .headers(known.details.headers ?? {})
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(envelopeOf(known)));
}

/**
 * An unexpected error is logged as an error and an unavailable dependency as a warning. The code of
 * a deliberate rejection is in the request's own log line.
 */
function logFailure({ log }: FastifyRequest, error: unknown, known: ApiError): void {
  if (known.statusCode === 500) log.error({ err: error }, 'request_failed');
  else if (known.statusCode > 500 && error !== known) log.warn({ err: error }, 'dependency_error');
}

/** The client has disconnected, and nothing in the service has failed. */
function isAborted(error: unknown, { raw }: FastifyRequest): boolean {
  return raw.errored !== null && raw.errored === error;
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode, message } = (error ?? {}) as Partial<FastifyError>; // each may be absent
  if (isDependencyError(code ?? message ?? '')) {
    return new ApiError(
      'UPSTREAM_UNAVAILABLE',
      'A dependency of the service is unavailable. Retry later.',
    );
  }
  if (statusCode === 413)
    return new ApiError('PAYLOAD_TOO_LARGE', 'The request body is too large.');
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return invalid(readableMessage(code), {
      status: statusCode === 414 || statusCode === 415 ? statusCode : 400,
    });
  }
  return new ApiError('INTERNAL_ERROR', 'The request failed because of an internal error.');
}

/** The library's messages repeat the URL, and its query may hold a secret. */
function readableMessage(code: string | undefined): string {
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return 'The URL is not correctly encoded.';
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return 'A segment of the URL is too long.';
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'The body must be JSON with content type application/json.';
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return 'The body length does not match Content-Length.';
    default:
      return 'The request could not be read.';
  }
}

function isDependencyError(text: string): boolean {
  return [ofSockets, ofNames, ofPostgres, ofPool].some((pattern) => pattern.test(text));
}

const ofSockets = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
/** On a container network, a stopped container has no name either. */
const ofNames = /^(ENOTFOUND|EAI_AGAIN)$/;
/** Classes 08, 53 and 57P, and timeouts of a statement or a lock. */
const ofPostgres = /^(08...|53...|57P..|57014|55P03)$/;
/** The pool's errors have a message and no code. */
const ofPool =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client .* not queryable$)/;
