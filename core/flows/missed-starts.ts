/** Why a schedule has not started a run. `late`: it could not be started in time. */
export const missedStartReasons = [
  'late',
  'RUNNER_OFFLINE',
  'CONCURRENT_LIMIT',
  'MONTHLY_QUOTA',
  'BUDGET_REACHED',
  'STORAGE_QUOTA',
] as const;

export type MissedStartReason = (typeof missedStartReasons)[number];

/** Scheduled starts without a run. */
export interface MissedStarts {
  flowId: string;
  projectId: string;
  reason: MissedStartReason;
  count: number;
  /** Absent if the time is unknown. */
  scheduledAt?: Date;
}
