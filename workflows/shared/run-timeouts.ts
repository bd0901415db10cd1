import { limits } from '../../core/limits.ts';

/** Timeouts of a run's workflow. They are part of its input, so a replay uses the same values. */
export interface RunTimeouts {
  /** The run's time limit, from the start of its sandbox. */
  runMs: number;
  noCapacityMs: number;
  /** A host that starts no task within this time is lost. */
  hostScheduleToStartMs: number;
  heartbeatMs: number;
  /** For all attempts to start a sandbox together. */
  startMs: number;
  /** From the end of a stop to the last byte of output. */
  outputDrainMs: number;
  snapshotMs: number;
  timeLimitGraceMs: number;
}

export const runTimeouts: RunTimeouts = {
  runMs: limits.run.timeoutMs,
  noCapacityMs: limits.run.noCapacityTimeoutMs,
  hostScheduleToStartMs: limits.host.lostMs,
  heartbeatMs: 10_000,
  startMs: 300_000,
  outputDrainMs: 600_000,
  snapshotMs: limits.snapshot.timeoutMs,
  timeLimitGraceMs: limits.run.stopGraceDefaultSeconds * 1_000,
};
