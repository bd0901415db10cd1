/** Limits of the calls that agents make to the model API, with their units. */
export const modelLimits = {
  /** Twice the limit of the model API. */
  bodyMaxBytes: 64 * 1024 ** 2,
  /** Arrays and objects within each other in a body. */
  depthMax: 200,
  /** Elements of all arrays and members of all objects of a body. */
  valuesMax: 1_000_000,
  /** Concurrent calls of one run. */
  callsAtOnceMax: 32,
  /** The bodies of one run's concurrent calls. */
  runBodiesMaxBytes: 128 * 1024 ** 2,
  /** Of these, what a run can use at any time. */
  runShareBytes: 4 * 1024 ** 2,
  /** What all runs of a host use beyond their shares. */
  commonBodiesMaxBytes: 256 * 1024 ** 2,
  /** Larger bodies of a run are parsed one after the other. */
  largeBodyBytes: 1024 ** 2,
  /** Models that a flow may list. */
  allowedMax: 20,
  /**
   * Calls of a run. An agent makes one per turn, and more for its helpers and after errors, but never
   * that many.
   */
  callsMax: (maxTurns: number | null): number =>
    maxTurns === null ? Number.POSITIVE_INFINITY : 20 * maxTurns + 50,
  /** How long the ledger has a call: 13 months, so that a month can be compared with that of last year. */
  ledgerRetentionMs: 397 * 24 * 3_600_000,
} as const;
