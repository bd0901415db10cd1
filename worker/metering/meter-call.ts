import {
  type AnswerReader,
  createAnswerReader,
  unreadAnswer,
} from '../../core/metering/answer-reader.ts';
import type { CallEnd } from '../../core/metering/call-usage.ts';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import type { PriceList } from '../../core/metering/model-prices.ts';
import type { MeteredCall } from '../egress/model/call-meter.ts';
import type { OpenCall } from './call-journal.ts';
import { endCall } from './end-call.ts';

/**
 * Reads one call's answer until its final usage is known. For the ledger the call has then ended,
 * even if more of the answer follows.
 */
export function meterCall(
  { modelPrices, now }: { modelPrices: PriceList; now(): Date },
  call: OpenCall,
  onEnded: (call: LedgerEntry) => void,
): MeteredCall {
  let status: number | null = null;
  let reader: AnswerReader | null = null;
  // The model writes a stream from its first event on, and an answer in one piece from the start.
  let writesSince: Date | null = call.startedAt;
  let hasEnded = false;

  function end(outcome: CallEnd['outcome']): void {
    if (hasEnded) return;
    hasEnded = true;
    const endedAt = now();
    const writingMs = writesSince === null ? 0 : endedAt.getTime() - writesSince.getTime();
    const answer = reader?.answer() ?? unreadAnswer;
    onEnded(endCall(call, { outcome, status, answer, writingMs, endedAt }, modelPrices));
  }

  return {
    answered(answerStatus, contentType) {
      status = answerStatus;
      reader = createAnswerReader(contentType);
      if (reader.isStream) writesSince = null;
    },
    read(part) {
      if (reader === null || hasEnded) return;
      reader.push(part.toString('latin1'));
      writesSince ??= now();
      if (reader.isComplete()) end('answered');
    },
    end,
  };
}
