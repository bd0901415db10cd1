import type { EndCause } from '../core/end-cause.ts';

/** A sandbox is named by its run and how many the run has had before. */
export interface SandboxRef {
  runId: string;
  generation: number;
}

export interface EndRunInput {
  runId: string;
  /** Counts only where no cause was recorded before. */
  cause: EndCause;
  detail: string | null;
  exitCode: number | null;
}

/**
 * Everything the workflows ask of the world. Ids, causes and counts only: prompts, configuration
 * and output never enter a history. Each is safe to call again.
 */
export interface Activities {
  /** Looks for a free place; null when every host is full. A second call returns the same host. */
  claimPlace(input: { runId: string }): Promise<{ hostId: string | null }>;
  /** Creates, or adopts, and starts the sandbox. `over`: the run was ended before it could start. */
  startSandbox(ref: SandboxRef): Promise<{ outcome: 'started' | 'over' }>;
  /** Waits until the agent has ended and its output is read to the last byte; records the cause. */
  followRun(ref: SandboxRef): Promise<{ cause: EndCause; detail: string | null; exitCode: number | null }>;
  /** Interrupts, then ends the sandbox. Harmless when it has ended or never was. */
  stopSandbox(input: SandboxRef & { graceMs: number }): Promise<void>;
  /** Records why the run is about to end; the first recorded cause stays. */
  recordCause(input: { runId: string; cause: EndCause; detail: string | null }): Promise<void>;
  /** Stores the working directory's files as blobs. A failure is recorded, never thrown for ever. */
  collectWorkspace(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** Ends the run in one statement and claims the webhook. A second call returns what the first did. */
  endRun(input: EndRunInput): Promise<{ webhook: boolean; cause: EndCause }>;
  /** One attempt at the webhook; throws to be retried. Delivered already: returns at once. */
  deliverWebhook(input: { runId: string }): Promise<{ status: number }>;
  /** Removes the container, its socket and its folders. Harmless when they are gone. */
  removeSandbox(ref: SandboxRef): Promise<void>;
}
