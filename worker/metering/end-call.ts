import { dayOf } from '../../core/agent/usage.ts';
import { unreadAnswer } from '../../core/metering/answer-reader.ts';
import { costOf } from '../../core/metering/call-cost.ts';
import { type CallEnd, callUsage } from '../../core/metering/call-usage.ts';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import { findPrice, type ModelPrice, type PriceList } from '../../core/metering/model-prices.ts';
import type { JournaledCalls, OpenCall } from './call-journal.ts';

type EndedAs = Omit<CallEnd, 'request'> & { endedAt: Date };

/**
 * If the called name has no price, the name in the answer may have one: the called one may be an
 * alias.
 */
export function endCall(
  { request, price: calledPrice, ...call }: OpenCall,
  { endedAt, ...end }: EndedAs,
  prices: PriceList,
): LedgerEntry {
  const price = calledPrice ?? answeredPrice(end.answer.model, call.startedAt, prices);
  const usage = callUsage({ ...end, request });
  const costNanos = price && costOf(usage.tokens, price);
  return { ...call, endedAt, status: end.status, ...usage, price, costNanos };
}

function answeredPrice(model: string | null, at: Date, prices: PriceList): ModelPrice | null {
  return model === null ? null : findPrice(model, { prices, day: dayOf(at) });
}

/** The model stops writing soon after the process that read its answer has died. */
const writesAfterDeathMs = 60_000;

interface EndedCalls {
  /** Calls that had an answer before their process died. */
  answered: LedgerEntry[];
  /** Calls that count as ended when their process died. */
  unanswered: LedgerEntry[];
}

/** The journal's calls as ledger entries. */
export function endJournaledCalls(
  { open, ended }: JournaledCalls,
  now: Date,
  prices: PriceList,
): EndedCalls {
  const unanswered = open.map((call) => {
    const sinceMs = now.getTime() - call.startedAt.getTime();
    const writingMs = Math.min(sinceMs, writesAfterDeathMs);
    const endedAt = new Date(call.startedAt.getTime() + Math.max(0, writingMs));
    const end = { outcome: 'agent_disconnected', status: null, answer: unreadAnswer } as const;
    return endCall(call, { ...end, writingMs, endedAt }, prices);
  });
  return { answered: ended, unanswered };
}
