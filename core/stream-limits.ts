const kiB = 1024;
const miB = 1024 * kiB;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Limits of streams and of their buffers, in processes and in Redis. */
export const streamLimits = {
  replay: {
    bufferFrames: 10_000,
    bufferBytes: 8 * miB,
    bufferAfterEndMs: 5 * minuteMs,
    /** A page of a replay; small, because every reader may buffer one. */
    pageFrames: 100,
    pageBytes: 256 * kiB,
    /** Memory for a page as events: `pageBytes`, the last frame and the encoding. */
    encodedPageBytes: 512 * kiB,
    /** Memory for the rendered end of a log, `firstOutputMaxBytes`, with its escapes. */
    encodedOutputBytes: 1.5 * miB,
    /** A read holds several copies of its page, so few run at once. */
    readsAtOnce: 4,
  },
  feed: {
    /** Latest frames of a streamed run that a process buffers, encoded. */
    frames: 4_000,
    bytes: 8 * miB,
    /** For all runs of a process, with the memory that a buffered frame takes besides its bytes. */
    totalBytes: 128 * miB,
    itemBytes: 256,
    /** Frames read from a growing log at a time, once for all readers. */
    pageFrames: 500,
    /** A stored frame is published within this time, or its publication is lost. */
    publicationMs: secondMs / 2,
  },
  stream: {
    pingMs: 15 * secondMs,
    /** Pings that are due within this time are sent together. */
    pingCoalesceMs: 250,
    /** Bytes buffered per reader before backpressure applies. */
    bufferMaxBytes: 64 * kiB,
    /**
     * Memory of a process for replays that clients have not read, in total and per key. A reader
     * waits longer than `stallMs`, after which readers that accept nothing are disconnected.
     */
    replayBudget: { maxBytes: 64 * miB, ownerMaxBytes: 32 * miB, waitMs: 30 * secondMs },
    /** A reader that accepts nothing for this long is disconnected. */
    stallMs: 10 * secondMs,
    perKey: 200,
    perProject: 1_000,
    /** After this time, a slot of a process that died is free again. */
    slotTtlMs: 60 * secondMs,
    keyCheckMs: 10 * secondMs,
    /** How often a process polls for lost notifications. */
    tickMs: 1 * secondMs,
    /** Bounds of the time after which a reader reconnects. */
    reconnectMinMs: 500,
    reconnectMaxMs: 6 * hourMs,
    /** Readers of a key reconnect this many times as far apart as its rate permits. */
    reconnectSpacing: 1.5,
    /** After a crash, the first of them leaves time for this many tokens, or one per reader. */
    reconnectLeadTokens: 8,
    closeMs: 1 * secondMs,
  },
  redis: {
    commandTimeoutMs: 1 * secondMs,
    reconnectMaxMs: 1 * secondMs,
    /** After a failure, no calls to Redis are made for this long. */
    backoffMs: 1 * secondMs,
    /** Expiry of a run's keys in Redis after the last publication. */
    runKeysTtlMs: 1 * dayMs,
    /** How long Redis knows that a run has ended. No publication is later. */
    endedTtlMs: 1 * hourMs,
    /** Expiries that a process repeats after Redis has failed, at most. */
    failedExpiriesMax: 10_000,
    /** How long the IDs of accepted runs, sessions and messages are kept, and how many at most. */
    acceptedKeptMs: 60 * secondMs,
    acceptedMax: 10_000,
    /** Expiry of all these IDs after the last one. Deleted runs disappear much later. */
    acceptedTtlMs: 1 * hourMs,
    /** How long a worker tries to read the last commits from Redis. */
    commitsTimeoutMs: 5 * secondMs,
    frameMaxBytes: 32 * kiB,
    /** Memory of a run's keys: its buffer with what Redis adds to each frame, and its file tree. */
    runMaxBytes: 12 * miB,
    /** Memory of everything else: rate limits, open streams, presence, connections. */
    baseBytes: 128 * miB,
    /** Longer batches are not included in their notification. */
    notificationMaxBytes: 8 * kiB,
  },
} as const;
