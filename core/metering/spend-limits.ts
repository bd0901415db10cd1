/** Limits of the report of what projects have spent. */
export const spendLimits = {
  /** Groups that a CSV export reads at a time. */
  csvPageGroups: 5_000,
} as const;
