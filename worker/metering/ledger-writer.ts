import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import { type RetryPolicy, retryUntilAborted } from '../../lib/async/retry.ts';

interface LedgerWriter {
  add(call: LedgerEntry): void;
  /** The ledger has every call that was added. */
  isIdle(): boolean;
  /** Resolves when the ledger has every call that was added. */
  written(): Promise<void>;
}

export interface WriterDeps {
  record(calls: readonly LedgerEntry[]): Promise<unknown>;
  retry: RetryPolicy;
  /** The ledger has every call that was added. */
  onWritten(): void;
}

/**
 * Writes the calls of a run to the ledger, one statement at a time. Calls that end during a
 * statement are written together by the next one. Retries until the ledger has them.
 */
export function createLedgerWriter({ record, retry, onWritten }: WriterDeps): LedgerWriter {
  let waiting: LedgerEntry[] = [];
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await retryUntilAborted(() => record(batch), retry);
    }
    writing = null;
    onWritten();
  }

  return {
    add(call) {
      waiting.push(call);
      writing ??= write();
      writing.catch(() => undefined); // `written` rejects as well, if it was called
    },
    isIdle: () => writing === null,
    written: async () => writing ?? undefined,
  };
}
