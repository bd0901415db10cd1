import type { LedgerEntry, RecordedSpending } from '../../../core/metering/ledger-entry.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { Db, Pool } from '../client/pool.ts';

export type LedgerStore = ReturnType<typeof createLedgerStore>;

/** The model calls with their cost. */
export function createLedgerStore(pool: Pool) {
  return {
    /**
     * Adds calls of one run, and returns the run's totals. Safe to repeat: each call is added once.
     * Null if the run was deleted.
     */
    record: (runId: string, calls: readonly LedgerEntry[]) => recordCalls(pool, runId, calls),
  };
}

async function recordCalls(
  db: Db,
  runId: string,
  calls: readonly LedgerEntry[],
): Promise<RecordedSpending | null> {
  const { rows } = await db.query<RecordedSpending>({
    name: 'record_model_calls',
    text: `select run_calls as calls, run_cost_nanos as "costNanos",
                  run_reached_budget as "reachedBudget"
           from record_model_calls($1, $2)`,
    values: [runId, JSON.stringify(calls.map(rowOf))],
  });
  return rows[0] ?? null;
}

/** The columns of the table, with the value of each. */
const rowOf = ({ tokens, price, ...call }: LedgerEntry) => ({
  id: call.callId,
  message_id: call.messageId,
  model: stripUnstorable(call.model),
  started_at: call.startedAt,
  ended_at: call.endedAt,
  status: call.status,
  is_cut_off: call.isCutOff,
  is_estimated: call.isEstimated,
  input_tokens: tokens.input,
  output_tokens: tokens.output,
  cache_read_tokens: tokens.cacheRead,
  cache_write_5m_tokens: tokens.cacheWrite5m,
  cache_write_1h_tokens: tokens.cacheWrite1h,
  web_searches: tokens.webSearches,
  price: price && JSON.stringify(price),
  cost_nanos: call.costNanos,
});
