import type { RetentionTimes } from '../runs/retention-times.ts';
import type { RuntimeFault, RuntimeSetting, SandboxRuntime } from '../sandbox/sandbox-runtime.ts';

/**
 * Whether the kernel limits what a sandbox writes: `denied` if the worker may not set the limits,
 * `unknown` if the state could not be read.
 */
export type ProjectQuotaState = 'enforced' | 'off' | 'denied' | 'unknown';

/** A host's last health check; stored with its heartbeat. */
export interface HostHealth {
  instance: string;
  /** Null if the engine does not answer; `engineProblem` says why. */
  engineVersion: string | null;
  engineProblem: string | null;
  image: string;
  /** Null if unknown. */
  imagePresent: boolean | null;
  runtimeSetting: RuntimeSetting;
  /** The runtime of sandboxes; null if unknown or unusable. */
  runtime: SandboxRuntime | null;
  runtimeFault: RuntimeFault | null;
  /** The message of the same error. */
  runtimeProblem: string | null;
  /** Of the data folder. */
  diskFreeBytes: number;
  diskTotalBytes: number;
  /** Free space that no sandbox may use. */
  diskReserveBytes: number;
  /** Null if the file system has no fixed number of inodes. */
  diskFreeInodes: number | null;
  /** Free inodes that no sandbox may use. */
  diskReserveInodes: number;
  projectQuotas: ProjectQuotaState;
  /** Against the clock of Postgres; null if it did not answer. */
  clockAheadMs: number | null;
  /** How many connections to Postgres its worker opens at most. */
  postgresConnections: number;
  /** Retention times of its worker. */
  retention: RetentionTimes;
}
