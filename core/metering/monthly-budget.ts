/** The owners of monthly budgets. If several budgets are reached, the first is reported. */
export const budgetOwners = ['project', 'flow', 'key'] as const;

export type BudgetOwner = (typeof budgetOwners)[number];

/**
 * Whose monthly budget a run has reached. `none`: no budget is reached. Null: there is no budget.
 */
export type ReachedBudget = BudgetOwner | 'none' | null;
