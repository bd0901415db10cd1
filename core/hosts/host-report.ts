import type { RuntimeFault, RuntimeSetting, SandboxRuntime } from '../sandbox/sandbox-runtime.ts';

/** What only a host can know, as it last looked; it says so with its row. */
export interface HostReport {
  instance: string;
  /** Null where the engine does not answer: `engineTrouble` says why. */
  engineVersion: string | null;
  engineTrouble: string | null;
  image: string;
  /** Null where that could not be asked. */
  imagePresent: boolean | null;
  runtimeSetting: RuntimeSetting;
  /** What sandboxes run on here; null where that could not be asked, or is at fault. */
  runtime: SandboxRuntime | null;
  runtimeFault: RuntimeFault | null;
  /** The same in words. */
  runtimeTrouble: string | null;
  /** Of the data folder. */
  diskFreeBytes: number;
  diskTotalBytes: number;
  /** How many more files fit on it; null where its file system sets no number. */
  diskFreeInodes: number | null;
  /** Against Postgres's; null where that did not answer. */
  clockAheadMs: number | null;
  /** How long its worker keeps what has ended. */
  retention: { runMs: number; sessionFilesMs: number; webhookAttemptsMs: number };
}
