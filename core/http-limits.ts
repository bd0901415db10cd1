const kiB = 1024;
const miB = 1024 * kiB;
const secondMs = 1_000;

/** Limits of requests and their answers, apart from the fields in them. */
export const httpLimits = {
  smallBodyMaxBytes: 64 * kiB,
  /** Bodies with a prompt or configuration. They fit even if every character is escaped. */
  mediumBodyMaxBytes: 10 * miB,
  /** Bodies that may have files. */
  largeBodyMaxBytes: 40 * miB,
  /** Archives, compressed and unpacked. They fit the files of a request with their headers. */
  archiveMaxBytes: 26 * miB,
  /** The entries of an archive, folders included, and the bytes of long paths and pax records. */
  archiveEntriesMax: 2_000,
  archiveRecordsMaxBytes: 512 * kiB,
  /**
   * Memory of a process for bodies over `smallBodyMaxBytes`, in total and per key. Operators count
   * as one key. While a body is parsed, it takes up to three times its size in addition.
   */
  bodyBudget: { maxBytes: 100 * miB, ownerMaxBytes: 60 * miB, waitMs: 10 * secondMs },
  smallAnswerMaxBytes: 64 * kiB,
  /**
   * Memory of a process for unread answers over `smallAnswerMaxBytes`, in total and per key. An
   * answer that waits for memory is in memory too.
   */
  answerBudget: {
    maxBytes: 48 * miB,
    ownerMaxBytes: 24 * miB,
    waitersMaxBytes: 16 * miB,
    waitMs: 10 * secondMs,
  },
  /** Bounds of a JSON body, checked before it is parsed. No valid body has half as many values. */
  json: { depthMax: 64, valuesMax: 100_000 },
  headersTimeoutMs: 15 * secondMs,
  /**
   * The time limit of a whole request. No body that keeps `bodyPace` takes so long, even if it
   * waits unread.
   */
  requestTimeoutMs: 15 * 60 * secondMs,
  /** How often connections are compared with the two timeouts. */
  timeoutCheckMs: 5 * secondMs,
  /**
   * How fast a body must arrive: never silent for `stallMs`, and at the minimum rate on average
   * after `graceMs`. An uplink of 1 Mbit/s is almost twice as fast.
   */
  bodyPace: {
    checkMs: 1 * secondMs,
    stallMs: 10 * secondMs,
    graceMs: 30 * secondMs,
    minBytesPerSecond: 64 * kiB,
  },
  /** How long a client has to close its connection after the service has rejected its request. */
  closeTimeoutMs: 2 * secondMs,
  connectionsMax: 10_000,
  /** Requests that wait for a run or a turn at a time, in each process. */
  waits: { perKey: 200, perProject: 1_000 },
  /** A client that takes nothing of its answer for this long is disconnected. */
  stallMs: 10 * secondMs,
  /** Large answers are written in slices of this size. */
  answerSliceBytes: 64 * kiB,
  reportedIssuesMax: 5,
  reportedFieldMaxChars: 100,
  readinessTimeoutMs: 2 * secondMs,
  /** How long the resolved addresses of a trusted proxy's name are cached. */
  proxyNameTtlMs: 10 * secondMs,
  /** Retry-After while a restore is being reconciled. */
  restoreRetrySeconds: 5,
  /** Retry-After while the disk of Postgres is short. */
  postgresDiskShortRetrySeconds: 30,
} as const;
