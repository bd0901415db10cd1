import type { CallEnd } from '../../../core/metering/call-usage.ts';
import type { ModelEndpoint, ModelRequest } from '../../../core/model/model-request.ts';
import type { ModelApiError } from './model-api-error.ts';

/** Meters the calls of one run, and refuses those that the run may not make. */
export interface CallMeter {
  open(call: UnmeteredCall): Promise<{ outcome: 'opened'; call: MeteredCall } | RefusedCall>;
}

export interface UnmeteredCall {
  endpoint: ModelEndpoint;
  request: ModelRequest;
  /** The length of the request as it is sent. */
  bytes: number;
  /** The tokens of the prompt; null if the model API does not say. */
  countTokens(): Promise<number | null>;
}

interface RefusedCall {
  outcome: 'refused';
  error: ModelApiError;
}

/** One call, from before it is sent. Its usage is stored even if this process dies. */
export interface MeteredCall {
  /** The model API answers. */
  answered(status: number, contentType: string): void;
  /** A part of the answer, before it is passed to the agent. */
  read(part: Buffer): void;
  /** A second call has no effect. */
  end(how: CallEnd['how']): void;
}
