/** How many sandboxes of a host start at once: as many as it has processors. */
export const startLimits = {
  /** Percent of the time in which a process waited for a processor. Above, fewer start at once. */
  highCpuPressure: 80,
  /** Under high pressure, one start for so many processors. */
  cpusPerStartUnderPressure: 4,
  /** From then on a start does not count, even if its agent has written nothing. */
  permitMaxMs: 3_000,
  /** First starts of runs and sessions overtake wake-ups that arrived up to this time earlier. */
  wakeUpDelayMs: 3_000,
  /** A start that has waited so long begins. Less than the time limit of a start. */
  waitMaxMs: 120_000,
} as const;
