import type { LedgerEntry, RecordedSpending } from '../../core/metering/ledger-entry.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import type { ModelApiError } from '../egress/model/model-api-error.ts';
import type { Refusal } from './call-limits.ts';

interface BudgetedRun {
  runId: string;
  /** Null: the project has no budget. */
  isMonthlyBudgetReached: boolean | null;
  /** A session continues when its project has a budget again. A plain run ends. */
  isSession: boolean;
}

export type MonthlyBudget = ReturnType<typeof createMonthlyBudget>;

/**
 * Every statement that adds calls to the ledger returns whether the project's budget is reached, so
 * a run has the current state after each of its calls. A call that is about to be refused reads the
 * state again, because the budget may have been raised.
 */
export function createMonthlyBudget(run: BudgetedRun, ledger: LedgerStore) {
  const { runId, isSession } = run;
  let isReached = run.isMonthlyBudgetReached;

  async function record(calls: readonly LedgerEntry[]): Promise<RecordedSpending | null> {
    const recorded = await ledger.record(runId, calls);
    if (recorded !== null) isReached = recorded.isMonthlyBudgetReached;
    return recorded;
  }

  return {
    /** Adds calls to the ledger. */
    record,
    /**
     * The refusal of a call; null if the budget permits it. `written` resolves when the ledger has
     * every call that has ended.
     */
    async check(written: () => Promise<void>): Promise<Refusal | null> {
      if (isReached === null) return null;
      await written();
      if (isReached) await record([]);
      return isReached ? { error, exceeded: isSession ? null : 'monthly_budget_reached' } : null;
    },
  };
}

const error: ModelApiError = {
  status: 402,
  type: 'billing_error',
  message: "The project's monthly budget is reached.",
};
