import type { BudgetOwner } from '../core/metering/monthly-budget.ts';

/**
 * Every error code, with its possible statuses. Codes may be added and are never renamed, because
 * clients depend on them.
 */
export const errorStatuses = {
  VALIDATION_ERROR: [400, 408, 414, 415, 431],
  UNAUTHORIZED: [401, 403],
  PROJECT_ARCHIVED: [403],
  NOT_FOUND: [404],
  METHOD_NOT_ALLOWED: [405],
  RUNNER_OFFLINE: [409],
  MESSAGE_NOT_QUEUED: [409],
  FILES_NOT_KEPT: [409],
  ENDPOINT_RETIRED: [410],
  PRECONDITION_FAILED: [412],
  PAYLOAD_TOO_LARGE: [413],
  RANGE_NOT_SATISFIABLE: [416],
  RATE_LIMITED: [429],
  CONCURRENT_LIMIT: [429],
  MONTHLY_QUOTA: [429],
  BUDGET_REACHED: [429],
  RUN_TREE_LIMIT: [429],
  SESSION_LIMIT: [429],
  STREAM_LIMIT: [429],
  WAIT_LIMIT: [429],
  QUEUE_FULL: [429],
  INTERNAL_ERROR: [500],
  UPSTREAM_UNAVAILABLE: [503],
} as const satisfies Record<string, readonly [number, ...number[]]>;

export type ErrorCode = keyof typeof errorStatuses;

interface ErrorDetails {
  /** For a code with several statuses; the first one by default. */
  status?: number;
  limit?: number;
  current?: number;
  /** Whose monthly budget is reached. */
  budget?: BudgetOwner;
  headers?: Record<string, string>;
}

/** An error for the client. The error handler turns it into the envelope. */
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

/** The default: most outages are short. */
const retrySeconds = 2;

function withRetry(details: ErrorDetails): ErrorDetails {
  return { ...details, headers: { 'retry-after': String(retrySeconds), ...details.headers } };
}

interface ErrorEnvelope {
  error: {
    code: ErrorCode;
    message: string;
    limit?: number;
    current?: number;
    budget?: BudgetOwner;
  };
}

export function envelopeOf({ code, message, details }: ApiError): ErrorEnvelope {
  const { limit, current, budget } = details;
  return {
    error: {
      code,
      message,
      ...(limit === undefined ? {} : { limit }),
      ...(current === undefined ? {} : { current }),
      ...(budget === undefined ? {} : { budget }),
    },
  };
}

export const invalid = (message: string, details?: ErrorDetails) =>
  new ApiError('VALIDATION_ERROR', message, details);

export const notFound = (resource = 'Resource') =>
  new ApiError('NOT_FOUND', `${resource} not found, or not accessible to this project.`);

/** The session can still be read. */
export const sessionEnded = () =>
  new ApiError('NOT_FOUND', 'The session has ended. Open a new one.');

/** The ID stays reserved, because reusing it would lead to the wrong conversation. */
export const sessionIdTaken = () =>
  new ApiError(
    'NOT_FOUND',
    'The session with this ID has ended. Its ID cannot be used again until 24 hours after the session ' +
      'was deleted. Choose another sessionId, or omit it.',
  );

export const messageNotQueued = () =>
  new ApiError(
    'MESSAGE_NOT_QUEUED',
    'The message is not queued: an agent may have received it, or its turn has ended.',
  );

export const filesNotKept = (version: number) =>
  new ApiError(
    'FILES_NOT_KEPT',
    `The files of version ${version} are no longer kept. The body {"files":false} restores its ` +
      'fields only.',
  );

export const unauthorized = () =>
  new ApiError(
    'UNAUTHORIZED',
    'The API key or run token is missing, malformed, expired or revoked.',
    { headers: { 'www-authenticate': 'Bearer' } },
  );

export const outOfScope = (what: string) =>
  new ApiError('UNAUTHORIZED', `The API key has no scope for ${what}.`, { status: 403 });

export const outOfTree = () =>
  new ApiError('UNAUTHORIZED', 'An agent can use only the runs that it has started.', {
    status: 403,
  });

export const foreign = (resource: string) =>
  new ApiError('UNAUTHORIZED', `${resource} belongs to another project.`, { status: 403 });
