/**
 * Every code that a client can see, with the statuses it comes under. Codes are added, never
 * renamed: clients are written against them.
 */
export const errorStatuses = {
  VALIDATION_ERROR: [400, 408, 414, 415, 431],
  UNAUTHORIZED: [401, 403],
  NOT_FOUND: [404],
  METHOD_NOT_ALLOWED: [405],
  RUNNER_OFFLINE: [409],
  ENDPOINT_RETIRED: [410],
  PAYLOAD_TOO_LARGE: [413],
  RANGE_NOT_SATISFIABLE: [416],
  RATE_LIMITED: [429],
  CONCURRENT_LIMIT: [429],
  MONTHLY_QUOTA: [429],
  STREAM_LIMIT: [429],
  QUEUE_FULL: [429],
  INTERNAL_ERROR: [500],
  UPSTREAM_UNAVAILABLE: [503],
} as const satisfies Record<string, readonly [number, ...number[]]>;

export type ErrorCode = keyof typeof errorStatuses;

export interface ErrorDetails {
  /** Where the code comes under more than one; its first otherwise. */
  status?: number;
  limit?: number;
  current?: number;
  headers?: Record<string, string>;
}

/** Thrown by whoever cannot go on; the one error handler turns it into the envelope. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.statusCode = details.status ?? errorStatuses[code][0];
    this.details = code === 'UPSTREAM_UNAVAILABLE' ? withRetry(details) : details;
  }
}

/** What is away is seldom away for long; whoever knows better says so. */
const retrySeconds = 2;

function withRetry(details: ErrorDetails): ErrorDetails {
  return { ...details, headers: { 'retry-after': String(retrySeconds), ...details.headers } };
}

export interface ErrorEnvelope {
  error: { code: ErrorCode; message: string; limit?: number; current?: number };
}

export function envelopeOf({ code, message, details }: ApiError): ErrorEnvelope {
  const { limit, current } = details;
  return {
    error: {
      code,
      message,
      ...(limit === undefined ? {} : { limit }),
      ...(current === undefined ? {} : { current }),
    },
  };
}

export const invalid = (message: string, details?: ErrorDetails) =>
  new ApiError('VALIDATION_ERROR', message, details);

export const notFound = (what = 'Resource') =>
  new ApiError('NOT_FOUND', `${what} not found, or not accessible to this project.`);

/** It can be read still, and takes nothing more. */
export const sessionOver = () =>
  new ApiError('NOT_FOUND', 'The session has ended, and cannot be gone on with. Open another.');

/** What is left of it keeps the id taken, which would lead to the wrong conversation else. */
export const sessionIdTaken = () =>
  new ApiError(
    'NOT_FOUND',
    'The session of this id has ended, and its id cannot be used again until a day after the session ' +
      'was deleted. Choose another sessionId, or leave it out.',
  );

export const unauthorized = () =>
  new ApiError('UNAUTHORIZED', 'The API key is missing, malformed, expired or revoked.', {
    headers: { 'www-authenticate': 'Bearer' },
  });

export const foreign = (what: string) =>
  new ApiError('UNAUTHORIZED', `${what} belongs to another project.`, { status: 403 });
