const kiB = 1024;
const minuteMs = 60_000;

/** How the logs of ended runs are packed. */
export const packingLimits = {
  /** The delay after the end of a run, because its log is likely to be read until then. */
  afterMs: 10 * minuteMs,
  everyMs: 5 * minuteMs,
  /** Logs that one call packs at most. */
  batchRuns: 100,
  /** A row of packed frames ends with the frame that reaches one of these limits. */
  chunkFrames: 2_000,
  chunkBytes: 256 * kiB,
} as const;
