import type { LedgerEntry, RecordedSpending } from '../../core/metering/ledger-entry.ts';
import type { BudgetName, ReachedBudget } from '../../core/metering/monthly-budget.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import type { ModelApiError } from '../egress/model/model-api-error.ts';
import type { ExceededLimit, Refusal } from './call-limits.ts';

interface BudgetedRun {
  runId: string;
  reachedBudget: ReachedBudget;
  /** Whether other runs spend a budget of its tree too. */
  hasTreeBudget: boolean;
  /** A session continues when there is a budget again. A plain run ends. */
  isSession: boolean;
}

export type MonthlyBudget = ReturnType<typeof createMonthlyBudget>;

/**
 * Every statement that adds calls to the ledger returns whose budget is reached, so a run has
 * the current state after each of its calls. A call that is about to be refused reads the state
 * again, because the budget may have been raised. So does each call of a tree with a budget, which
 * other runs may have spent meanwhile.
 */
export function createMonthlyBudget(run: BudgetedRun, ledger: LedgerStore) {
  const { runId, isSession, hasTreeBudget } = run;
  let reached = run.reachedBudget;

  async function record(calls: readonly LedgerEntry[]): Promise<RecordedSpending | null> {
    const recorded = await ledger.record(runId, calls);
    if (recorded !== null) reached = recorded.reachedBudget;
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
      if (reached === null) return null;
      await written();
      if (reached !== 'none' || hasTreeBudget) await record([]);
      if (reached === null || reached === 'none') return null;
      return { error: budgetReached(reached), exceeded: isSession ? null : exceeded[reached] };
    },
  };
}

const exceeded = {
  project: 'monthly_budget_reached',
  flow: 'monthly_flow_budget_reached',
  key: 'monthly_key_budget_reached',
  tree: 'tree_budget_reached',
} as const satisfies Record<BudgetName, ExceededLimit>;

const budgetReached = (name: BudgetName): ModelApiError => ({
  status: 402,
  type: 'billing_error',
  message:
    name === 'tree'
      ? 'The budget of the run tree is reached.'
      : `The ${name}'s monthly budget is reached.`,
});
