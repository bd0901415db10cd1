import type { Answer } from './answer-reader.ts';
import { noTokens, type TokenCounts } from './token-counts.ts';

/** How a call ended, as the gateway saw it. */
export interface CallEnd {
  /** `failed`: the model API did not answer, or ended its answer early. */
  outcome: 'answered' | 'agent_disconnected' | 'failed';
  /** The HTTP status of the answer; null if none arrived. */
  status: number | null;
  answer: Answer;
  /** `promptTokens` is an estimate. */
  request: { promptTokens: number; maxTokens: number };
  /** How long the model may have written. */
  writingMs: number;
}

interface CallUsage {
  tokens: TokenCounts;
  isCutOff: boolean;
  isEstimated: boolean;
}

/** The speed of a fast model, so that an estimate is rather too high than too low. */
const tokensPerSecond = 100;

/**
 * The tokens that a call used: none if the model API rejected it or never answered. If an answer
 * has no final usage, the missing counts are estimated: the prompt by its length, and the output by
 * the time that the model wrote, because the part that arrived does not show all tokens, such as
 * those of thinking.
 */
export function callUsage({ outcome, status, answer, request, writingMs }: CallEnd): CallUsage {
  const isCutOff = outcome !== 'answered' || (isSuccess(status) && !answer.isComplete);
  if (answer.isComplete) return { tokens: answer.tokens ?? noTokens, isCutOff, isEstimated: false };
  const isUnanswered = status === null && outcome === 'failed';
  if (isUnanswered || !(status === null || isSuccess(status))) {
    return { tokens: noTokens, isCutOff, isEstimated: false };
  }
  const read = answer.tokens ?? { ...noTokens, input: request.promptTokens };
  const written = Math.ceil((Math.max(0, writingMs) / 1_000) * tokensPerSecond);
  const output = Math.max(read.output, Math.min(written, request.maxTokens));
  return { tokens: { ...read, output }, isCutOff, isEstimated: true };
}

const isSuccess = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;
