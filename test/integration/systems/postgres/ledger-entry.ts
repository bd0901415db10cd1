import { randomUUID } from 'node:crypto';
import { costOf } from '../../../../core/metering/call-cost.ts';
import type { LedgerEntry } from '../../../../core/metering/ledger-entry.ts';
import { modelPrice } from '../../../../core/metering/model-prices.ts';
import { noTokens } from '../../../../core/metering/token-counts.ts';

export const price = modelPrice({ input: 4, output: 20, cacheRead: 0.2 });
const tokens = {
  ...noTokens,
  ...{ input: 100, output: 10, cacheRead: 50, cacheWrite5m: 3, cacheWrite1h: 4 },
};
export const costNanos = costOf(tokens, price);

/** A model call with the tokens and the cost above. */
export function ledgerEntry(fields: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    ...{ callId: randomUUID(), messageId: null, model: 'claude-opus-5-5', status: 200 },
    ...{ startedAt: new Date('2026-11-23T23:59:58Z'), endedAt: new Date('2026-11-23T23:59:59Z') },
    ...{ isCutOff: false, isEstimated: false, tokens, price, costNanos },
    ...fields,
  };
}
