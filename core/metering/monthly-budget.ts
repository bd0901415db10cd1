/** The owners of monthly budgets. If several budgets are reached, the first is reported. */
export const budgetOwners = ['project', 'flow', 'key'] as const;

export type BudgetOwner = (typeof budgetOwners)[number];

/** The tree of a run has a budget for all its runs, which is not a monthly one. */
export type BudgetName = BudgetOwner | 'tree';

/**
 * Which budget a run has reached, besides its own. `none`: no budget is reached. Null: there is no
 * budget.
 */
export type ReachedBudget = BudgetName | 'none' | null;
