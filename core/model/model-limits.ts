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
  /** How long the ledger has a call: 13 months, so that a month can be compared with that of last year. */
  ledgerRetentionMs: 397 * 24 * 3_600_000,
} as const;
