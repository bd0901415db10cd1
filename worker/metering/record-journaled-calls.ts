import type { PriceList } from '../../core/metering/model-prices.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import { readCallJournals } from './call-journal.ts';
import { endJournaledCalls } from './end-call.ts';

interface JournaledCallsDeps {
  ledger: LedgerStore;
  modelPrices: PriceList;
  now(): Date;
}

/**
 * Adds the journal of a sandbox that no process supervises any more to the ledger, before the
 * sandbox's folder is removed. Safe to repeat.
 */
export async function recordJournaledCalls(
  { ledger, modelPrices, now }: JournaledCallsDeps,
  root: string,
): Promise<void> {
  for (const { runId, ...journaled } of await readCallJournals(root)) {
    const { answered, unanswered } = endJournaledCalls(journaled, now(), modelPrices);
    const calls = [...answered, ...unanswered];
    if (calls.length > 0) await ledger.record(runId, calls);
  }
}
