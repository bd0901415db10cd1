import { limits } from '../../core/limits.ts';

/** How long a run's workflow waits for what. Part of its input, so that a replay waits the same. */
export interface RunTimeouts {
  /** The run's own limit, from the start of its sandbox. */
  runMs: number;
  noCapacityMs: number;
  slotPollMs: number;
  /** A host that takes no task for so long is lost. */
  hostScheduleToStartMs: number;
  heartbeatMs: number;
  /** For all attempts at starting a sandbox together. */
  startMs: number;
  /** From the end of a stop to the last byte of output. */
  outputDrainMs: number;
  snapshotMs: number;
  timeLimitGraceMs: number;
}

export const runTimeouts: RunTimeouts = {
  runMs: limits.runTimeoutMs,
  noCapacityMs: limits.noCapacityTimeoutMs,
  slotPollMs: 2_000,
  hostScheduleToStartMs: limits.hostLostMs,
  heartbeatMs: 10_000,
  startMs: 300_000,
  outputDrainMs: 600_000,
  snapshotMs: limits.snapshotTimeoutMs,
  timeLimitGraceMs: limits.stopGraceDefaultSeconds * 1_000,
};
