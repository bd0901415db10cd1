const secondMs = 1_000;

/** Calls from the API to Temporal. */
export const workflowLimits = {
  /** How long an answer waits for a stop, an interrupt or a request to sleep. */
  signalWaitMs: 2 * secondMs,
  /**
   * Starts and signals of messages that a process has in flight while it answers. Those beyond are
   * left to the reconciler.
   */
  inFlightMax: 500,
  /** How often a process records which workflows were started and signalled. */
  markEveryMs: secondMs / 5,
  /** How long a stopping process waits for its calls. */
  drainMs: 2 * secondMs,
  /** The reconciler makes a call that was not recorded by then. */
  startGraceMs: 5 * secondMs,
} as const;
