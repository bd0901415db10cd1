import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ModelErrorType } from '../../../core/model/model-error-type.ts';

/** An error in the format of the model API. */
export interface ModelApiError {
  status: number;
  type: ModelErrorType;
  message: string;
  /** The field of the request that is not permitted. Only for the log: the message names it. */
  field?: string;
}

/** A call that is not forwarded. The agent receives the error. */
export interface RefusedCall {
  outcome: 'refused';
  error: ModelApiError;
}

export const refused = (error: ModelApiError): RefusedCall => ({ outcome: 'refused', error });

export const invalidRequest = (message: string): ModelApiError => ({
  status: 400,
  type: 'invalid_request_error',
  message,
});

/** Agents retry this status. */
export const overloaded = (message: string): ModelApiError => ({
  status: 529,
  type: 'overloaded_error',
  message,
});

/** Closes the connection after the error, so that the rest of the body need not be read. */
export function refuseCall(
  request: IncomingMessage,
  response: ServerResponse,
  error: ModelApiError,
): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
  request.resume();
  answerError(response, error);
}

export function answerError(
  response: ServerResponse,
  { status, type, message }: ModelApiError,
): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}
