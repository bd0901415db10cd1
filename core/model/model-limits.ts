/** Limits of the calls that agents make to the model API, with their units. */
export const modelLimits = {
  /** Twice the limit of the model API. */
  bodyMaxBytes: 64 * 1024 ** 2,
  /** Maximum nesting of arrays and objects in a body. */
  depthMax: 200,
  /** Maximum number of array elements and object members of a body. */
  valuesMax: 1_000_000,
  /** Concurrent calls of one run. */
  concurrentCallsMax: 32,
  /** Total size of the bodies of one run's concurrent calls. */
  runBodiesMaxBytes: 128 * 1024 ** 2,
  /** The part of them that is reserved for the run. */
  runReservedBytes: 4 * 1024 ** 2,
  /** The memory that all runs of a host share, for bodies beyond their reserved parts. */
  sharedBodiesMaxBytes: 256 * 1024 ** 2,
  /** A run's larger bodies are parsed one after the other. */
  largeBodyBytes: 1024 ** 2,
  /** Models that a flow may list. */
  allowedMax: 20,
  /**
   * Model calls of a run. A well-behaved agent stays far below: it makes one call per round, and
   * more for subagents and after errors.
   */
  callsMax: (maxTurns: number | null): number =>
    maxTurns === null ? Number.POSITIVE_INFINITY : 20 * maxTurns + 50,
  /**
   * Rejected calls of a turn that the ledger contains. They are free, so an agent could make any
   * number.
   */
  rejectedCallsStoredMax: 20,
  /** 13 months, so that a month can be compared with the same month of the year before. */
  ledgerRetentionMs: 397 * 24 * 3_600_000,
} as const;
