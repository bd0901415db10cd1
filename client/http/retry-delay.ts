import { ConnectionFailed, type FlowrunError } from './errors.ts';

/** The waits before the second, third and fourth attempt, after which a request fails. */
const waitsMs = [1_000, 2_000, 4_000];

/** Codes of requests that were rejected before they had an effect, and may succeed later. */
const retryableCodes = new Set([
  'RATE_LIMITED',
  'CONCURRENT_LIMIT',
  'STREAM_LIMIT',
  'WAIT_LIMIT',
  'QUEUE_FULL',
]);

interface Attempt {
  /** The number of the failed attempt, from 1. */
  attempt: number;
  error: FlowrunError;
  /** A second request has no further effect. */
  isRepeatable: boolean;
}

/** The time to wait before the next attempt, or null if there is none. */
export function retryDelayMs({ attempt, error, isRepeatable }: Attempt): number | null {
  const waitMs = waitsMs[attempt - 1];
  if (waitMs === undefined) return null;
  const retryAfterMs = error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1_000;
  if (retryableCodes.has(error.code)) return retryAfterMs ?? waitMs;
  if (!isRepeatable) return neverSent(error) ? waitMs : null;
  if (error instanceof ConnectionFailed) return waitMs;
  const { status } = error;
  if (status === 503) return retryAfterMs ?? 0;
  return status !== null && status >= 500 ? (retryAfterMs ?? waitMs) : null;
}

const connectErrors = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Node names the errors of a connection that was never made. Browsers do not. */
function neverSent({ cause }: FlowrunError): boolean {
  const reason = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
  return typeof code === 'string' && connectErrors.has(code);
}
