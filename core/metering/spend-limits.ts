/** Limits of the spend on model calls, and of its report. */
export const spendLimits = {
  /** The highest monthly budget of a project, a flow or a key. */
  monthlyBudgetMaxUsd: 1_000_000,
  /** Groups that a CSV export reads at a time. */
  csvPageGroups: 5_000,
} as const;
