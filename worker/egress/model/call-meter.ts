import type { CallEnd } from '../../../core/metering/call-usage.ts';
import type { ModelEndpoint, ModelRequest } from '../../../core/model/model-request.ts';
import type { RefusedCall } from './model-api-error.ts';

/** Meters the calls of one run, and refuses those that the run may not make. */
export interface CallMeter {
  open(call: UnmeteredCall): Promise<{ outcome: 'opened'; call: MeteredCall } | RefusedCall>;
}

export interface UnmeteredCall {
  endpoint: ModelEndpoint;
  request: ModelRequest;
  /** The model that answers. Its price applies. */
  answeringModel: string;
  /** The length of the request as it is sent. */
  bytes: number;
  /**
   * The number of tokens in the prompt, counted by the model API; null if it cannot be determined.
   */
  countTokens(): Promise<number | null>;
}

/** A call that is about to be sent. Its usage is stored even if this process dies. */
export interface MeteredCall {
  /** Called with the headers of the answer. */
  answered(status: number, contentType: string): void;
  /** Called with each part of the answer, before the agent receives it. */
  read(part: Buffer): void;
  /** A second call has no effect. */
  end(outcome: CallEnd['outcome']): void;
}
