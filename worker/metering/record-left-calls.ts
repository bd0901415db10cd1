import type { PriceList } from '../../core/metering/model-prices.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import { readCallJournals } from './call-journal.ts';
import { endLeftCalls } from './end-call.ts';

interface LeftCallsDeps {
  ledger: LedgerStore;
  modelPrices: PriceList;
  now(): Date;
}

/**
 * Writes the calls of a sandbox that no process supervises any more to the ledger, before its folder is
 * removed. Safe to repeat.
 */
export async function recordLeftCalls(
  { ledger, modelPrices, now }: LeftCallsDeps,
  root: string,
): Promise<void> {
  for (const { runId, ...left } of await readCallJournals(root)) {
    const calls = endLeftCalls(left, now(), modelPrices);
    if (calls.length > 0) await ledger.record(runId, calls);
  }
}
