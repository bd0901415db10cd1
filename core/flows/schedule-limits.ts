const minuteMs = 60 * 1_000;

/** Limits of schedules. */
export const scheduleLimits = {
  /** A start that Temporal cannot make within this time is skipped. */
  catchUpMs: 10 * minuteMs,
  /** The number of recent starts that are kept for each schedule. */
  startsKept: 20,
} as const;
