import { isRejected, type LedgerEntry } from '../../core/metering/ledger-entry.ts';
import { modelLimits } from '../../core/model/model-limits.ts';
import type { CallJournal } from './call-journal.ts';
import { createLedgerWriter, type WriterDeps } from './ledger-writer.ts';

interface CallStore {
  add(call: LedgerEntry): void;
  beginTurn(): void;
  /** Resolves when the ledger has every call that is stored. */
  written(): Promise<void>;
}

interface StoreDeps extends Omit<WriterDeps, 'onWritten'> {
  journal: CallJournal;
  hasOpenCalls(): boolean;
}

/**
 * Stores the calls that have ended. Rejected calls are free, so an agent could make any number of
 * them. Only the first ones of each turn are stored.
 */
export function createCallStore({ journal, hasOpenCalls, ...deps }: StoreDeps): CallStore {
  let rejectedInTurn = 0;
  const onWritten = (): void => {
    if (!hasOpenCalls()) journal.clear();
  };
  const writer = createLedgerWriter({ ...deps, onWritten });
  return {
    add(call) {
      if (isRejected(call)) rejectedInTurn += 1;
      if (isRejected(call) && rejectedInTurn > modelLimits.rejectedCallsStoredMax) {
        journal.discarded(call.callId);
        if (writer.isIdle()) onWritten();
        return;
      }
      journal.ended(call);
      writer.add(call);
    },
    beginTurn() {
      rejectedInTurn = 0;
    },
    written: writer.written,
  };
}
