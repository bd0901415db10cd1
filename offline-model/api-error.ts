import type { ServerResponse } from 'node:http';

/** An error in the format of the Messages API. */
export class ApiError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message?: string, retryAfterSeconds?: number) {
    super(message ?? defaultMessages[status] ?? 'Internal server error');
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const defaultMessages: Readonly<Record<number, string>> = {
  401: 'x-api-key header is required',
  404: 'Not found',
  405: 'Method Not Allowed',
  413: 'Request exceeds the maximum size',
  429: 'This request would exceed the rate limit',
  529: 'Overloaded',
};

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const { status, message, retryAfterSeconds } =
    error instanceof ApiError ? error : new ApiError(500, String(error));
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}
