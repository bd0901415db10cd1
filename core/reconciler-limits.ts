const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Intervals and limits of the reconciler. */
export const reconcilerLimits = {
  everyMs: 5 * secondMs,
  /** After this time a step begins with no further run. */
  stepMaxMs: 10 * secondMs,
  /** The requests to Temporal that a step has begun by then end within this time. */
  requestMaxMs: 5 * secondMs,
  /** The last request ends this long before the lease. */
  leaseMarginMs: 1 * secondMs,
  /** Active runs whose workflows a pass describes. */
  describedPerPass: 100,
  /** Pending webhooks that a pass takes, in turn between the projects. */
  webhooksPerPass: 200,
  /** A dead leader's job is claimed by another worker after this time and one period. */
  leaseMs: 15 * secondMs,
  /** How often a worker tries to claim a job that is due less often. */
  jobPollMs: 1 * minuteMs,
  /** How often all schedules are synced to Temporal, in case Temporal has lost some. */
  schedulesEveryMs: 1 * hourMs,
  /** Temporal lists a closed workflow with a delay, and by another clock. */
  closedOverlapMs: 10 * minuteMs,
  /** A new leader compares the workflows that were closed within this time. */
  closedSinceMs: 1 * hourMs,
  /**
   * If more workflows are missing, and more than this share of those checked, no run is ended.
   */
  missingWorkflowsMax: 5,
  missingWorkflowsMaxShare: 0.1,
} as const;
