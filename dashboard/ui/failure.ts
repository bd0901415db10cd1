import { ConnectionFailed, isFlowrunError } from '../../client/http/errors.ts';

/** What the page says about a request that has failed. */
export interface Failure {
  message: string;
  /** For a report to the operators of the service. */
  requestId: string | null;
}

export function failureOf(error: unknown): Failure {
  if (!isFlowrunError(error)) return { message: String(error), requestId: null };
  if (error instanceof ConnectionFailed)
    return { message: 'The service is unreachable. Try again.', requestId: null };
  return { message: error.message, requestId: error.requestId };
}
