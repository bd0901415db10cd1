import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, envelopeOf, invalid } from '../errors.ts';

/** The one place where an error becomes an answer. What nobody foresaw is logged, never shown. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = isAborted(error, request) ? invalid('The request broke off.') : asApiError(error);
  logFailure(request, error, known);
  request.errorCode = known.code;
  void reply
    .code(known.statusCode)
    .headers(known.details.headers ?? {})
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(envelopeOf(known)));
}

/**
 * What nobody foresaw is for somebody to look at; a part of the service that is away is told of by
 * itself as well, and a refusal that was decided on stands in the request's own line.
 */
function logFailure({ log }: FastifyRequest, error: unknown, known: ApiError): void {
  if (known.statusCode === 500) log.error({ err: error }, 'request_failed');
  else if (known.statusCode > 500 && error !== known) log.warn({ err: error }, 'dependency_error');
}

/** Nobody is left to read the answer, and nothing of the service has failed. */
function isAborted(error: unknown, { raw }: FastifyRequest): boolean {
  return raw.errored !== null && raw.errored === error;
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode, message } = (error ?? {}) as Partial<FastifyError>; // each may be absent
  if (isDependencyError(code ?? message ?? '')) {
    return new ApiError(
      'UPSTREAM_UNAVAILABLE',
      'A part of the service does not answer; try again.',
    );
  }
  if (statusCode === 413)
    return new ApiError('PAYLOAD_TOO_LARGE', 'The request body is too large.');
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return invalid(readableMessage(code), {
      status: statusCode === 414 || statusCode === 415 ? statusCode : 400,
    });
  }
  return new ApiError('INTERNAL_ERROR', 'The service failed to answer this request.');
}

/** Own words: those of the library repeat the address, and so whatever secret is in its query. */
function readableMessage(code: string | undefined): string {
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return 'The address is not correctly encoded.';
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return 'A part of the address is too long.';
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'The body has to be JSON, with the content type application/json.';
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return 'The body is not as long as its Content-Length says.';
    default:
      return 'The request could not be read.';
  }
}

function isDependencyError(said: string): boolean {
  return [ofSockets, ofNames, ofPostgres, ofPool].some((pattern) => pattern.test(said));
}

const ofSockets = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
/** Among containers one that is down has no name, either. */
const ofNames = /^(ENOTFOUND|EAI_AGAIN)$/;
/** Its classes 08, 53, 57P, and what it gave up: a statement, or the wait for a lock, after too long. */
const ofPostgres = /^(08...|53...|57P..|57014|55P03)$/;
/** In its own words, without a code. */
const ofPool =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client .* not queryable$)/;
