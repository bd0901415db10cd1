const miB = 1024 ** 2;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Limits of the files and transcripts that Postgres stores. */
export const storageLimits = {
  snapshot: {
    maxBytes: 512 * miB,
    maxFiles: 20_000,
    skippedMax: 100,
    /** The default of `SNAPSHOT_TIMEOUT_MS`. An upload waits as long for its blob's removal. */
    timeoutMs: 5 * minuteMs,
  },
  transcript: {
    /** More small segments in a row are stored again as one. */
    smallSegmentsMax: 32,
    largeSegmentBytes: 1 * miB,
  },
  blob: {
    chunkBytes: 1 * miB,
    /** Minimum age of a blob's `created_at` before reuse refreshes it. */
    touchMs: 1 * hourMs,
    gcEveryMs: 1 * hourMs,
    unreferencedTtlMs: 3 * hourMs,
  },
} as const;
