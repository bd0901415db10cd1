import { dayOf } from '../../core/agent/usage.ts';
import { unreadAnswer } from '../../core/metering/answer-reader.ts';
import { costOf } from '../../core/metering/call-cost.ts';
import { type CallEnd, callUsage } from '../../core/metering/call-usage.ts';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import { findPrice, type ModelPrice, type PriceList } from '../../core/metering/model-prices.ts';
import type { LeftCalls, OpenCall } from './call-journal.ts';

type EndedAs = Omit<CallEnd, 'request'> & { endedAt: Date };

/** A model without a price may be another name of the one that answers. */
export function endCall(
  { request, price: calledPrice, ...call }: OpenCall,
  { endedAt, ...end }: EndedAs,
  prices: PriceList,
): LedgerEntry {
  const price = calledPrice ?? answeredPrice(end.answer.model, call.startedAt, prices);
  const usage = callUsage({ ...end, request });
  const cost = price && costOf(usage.tokens, price);
  return { ...call, endedAt, status: end.status, ...usage, price, cost };
}

function answeredPrice(model: string | null, at: Date, prices: PriceList): ModelPrice | null {
  return model === null ? null : findPrice(model, { prices, day: dayOf(at) });
}

/** A model stops soon after the process that read its answer has died. */
const writesAfterDeathMs = 60_000;

/** What a process left, as calls that ended when it died. */
export function endLeftCalls(
  { open, ended }: LeftCalls,
  now: Date,
  prices: PriceList,
): LedgerEntry[] {
  const unanswered = open.map((call) => {
    const sinceMs = now.getTime() - call.startedAt.getTime();
    const writingMs = Math.min(sinceMs, writesAfterDeathMs);
    const endedAt = new Date(call.startedAt.getTime() + Math.max(0, writingMs));
    const end = { how: 'agent_disconnected', status: null, answer: unreadAnswer } as const;
    return endCall(call, { ...end, writingMs, endedAt }, prices);
  });
  return [...ended, ...unanswered];
}
