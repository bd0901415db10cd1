/** What can have a monthly budget. If several are reached, the first is named. */
export const budgetOwners = ['project', 'flow', 'key'] as const;

export type BudgetOwner = (typeof budgetOwners)[number];

/**
 * Whose monthly budget a run has reached. `none`: no budget is reached. Null: there is no budget.
 */
export type ReachedBudget = BudgetOwner | 'none' | null;
