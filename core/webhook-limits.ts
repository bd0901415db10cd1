const kiB = 1024;
const miB = 1024 * kiB;
const secondMs = 1_000;

/** Attempts to deliver webhooks. */
export const webhookLimits = {
  attempts: 4,
  /** After the first attempt, the second, and the third. */
  delaysMs: [2 * secondMs, 10 * secondMs, 30 * secondMs],
  attemptTimeoutMs: 10 * secondMs,
  /** An attempt is claimed within this time, or it is not made now. */
  claimTimeoutMs: 8 * secondMs,
  /** The result of an attempt is stored within this time, or it remains unknown. */
  recordTimeoutMs: 10 * secondMs,
  /** From the claim on. An attempt without a result after this time is no longer in progress. */
  attemptMaxMs: 30 * secondMs,
  responseMaxBytes: 64 * kiB,
  endpointsPerProject: 10,
  /** The number of events whose workflows one pass of the reconciler starts. */
  eventsPerPass: 200,
  /** Events of a project that are delivered at a time. */
  eventsInProgress: 50,
  /** An event that is pending for longer is started again, if its workflow is gone. */
  eventRestartAfterMs: 300 * secondMs,
  /** Attempts that a worker makes at a time. */
  slots: 250,
  /** Undelivered webhooks that may use them; the rest is for runs that end at the same time. */
  commonMax: 200,
  /** After this time a webhook no longer uses them. Longer than all attempts of a delivery. */
  commonForMs: 120 * secondMs,
  /** Undelivered webhooks from which on a project uses the slots below. */
  backlogPerProject: 50,
  /** Further attempts at a time, of projects with a backlog. */
  backlogSlots: 250,
  /** Larger bodies reserve memory before their attempt. */
  smallBodyBytes: 64 * kiB,
  /** Of each queue of a worker; an owner is a project. */
  bodyBudget: { maxBytes: 32 * miB, ownerMaxBytes: 16 * miB, waitMs: secondMs / 2 },
  /** An attempt without memory gives its slot to another one for this time. */
  memoryRetryMs: 2 * secondMs,
} as const;
