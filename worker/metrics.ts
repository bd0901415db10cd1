/** What the worker tells of itself in numbers; who gathers them is not its business. */
export interface WorkerMetrics {
  runStarted(waitedMs: number): void;
  runEnded(cause: string, ranMs: number | null): void;
  turnStarted(waitedMs: number): void;
  batchStored(batch: { frames: number; bytes: number; tookMs: number }): void;
  sandboxStart(outcome: 'started' | 'cancelled' | 'failed', tookMs: number): void;
  webhookAttempt(outcome: 'delivered' | 'rejected' | 'failed' | 'blocked', tookMs: number): void;
}

export const noopMetrics: WorkerMetrics = {
  runStarted: () => undefined,
  runEnded: () => undefined,
  turnStarted: () => undefined,
  batchStored: () => undefined,
  sandboxStart: () => undefined,
  webhookAttempt: () => undefined,
};
