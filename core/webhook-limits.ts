const kiB = 1024;
const secondMs = 1_000;

/** Attempts to deliver webhooks. */
export const webhookLimits = {
  attempts: 4,
  /** After the first attempt, the second, and the third. */
  delaysMs: [2 * secondMs, 10 * secondMs, 30 * secondMs],
  attemptTimeoutMs: 10 * secondMs,
  responseMaxBytes: 64 * kiB,
  /** Attempts that a worker makes at a time. */
  slots: 250,
  /** Undelivered webhooks from which on a project uses the slots below. */
  backlogPerProject: 50,
  /** Further attempts at a time, of projects with a backlog. */
  backlogSlots: 250,
} as const;
