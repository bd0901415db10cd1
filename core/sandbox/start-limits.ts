/** Limits of concurrent sandbox starts on one host, besides its number of processors. */
export const startLimits = {
  /** Percent of the time in which a process waited for a processor. Above, fewer start at once. */
  highCpuPressure: 80,
  /** Processors per concurrent start under high pressure. */
  cpusPerStartUnderPressure: 4,
  /** A permit expires then, so an agent that never writes cannot block the queue. */
  permitMaxMs: 3_000,
  /** First starts of runs and sessions overtake wake-ups that arrived up to this time earlier. */
  wakeUpDelayMs: 3_000,
  /** A start proceeds without a free permit then. Less than the time limit of a start. */
  waitMaxMs: 120_000,
} as const;
