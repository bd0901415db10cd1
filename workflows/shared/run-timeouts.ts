import { limits } from '../../core/limits.ts';

/** How long a run's workflow waits for what. Part of its input, so that a replay waits the same. */
export interface RunTimes {
  /** The run's own limit, from the start of its sandbox. */
  runMs: number;
  noCapacityMs: number;
  askAgainMs: number;
  /** A host that takes no task for so long is lost. */
  hostDispatchMs: number;
  heartbeatMs: number;
  /** For all attempts at starting a sandbox together. */
  startMs: number;
  /** From the end of a stop to the last byte of output. */
  lastOutputMs: number;
  collectMs: number;
  timeLimitGraceMs: number;
}

export const runTimes: RunTimes = {
  runMs: limits.runTimeoutMs,
  noCapacityMs: limits.noCapacityTimeoutMs,
  askAgainMs: 2_000,
  hostDispatchMs: limits.hostLostMs,
  heartbeatMs: 10_000,
  startMs: 300_000,
  lastOutputMs: 600_000,
  collectMs: limits.collectTimeoutMs,
  timeLimitGraceMs: limits.stopGraceDefaultSeconds * 1_000,
};
