import type { Logger } from 'pino';
import type { Run } from '../../core/runs/run.ts';

const atOnce = 5;

/**
 * Processes a few runs at a time, so that one slow answer does not delay all of them. Returns the
 * runs that failed. The next pass retries them.
 */
export async function forEachRun<R extends Run>(
  runs: R[],
  logger: Logger,
  work: (run: R) => Promise<void>,
): Promise<R[]> {
  const failed: R[] = [];
  const waiting = runs.values();
  async function workThroughQueue(): Promise<void> {
    for (const run of waiting) {
      try {
        await work(run);
      } catch (error) {
        failed.push(run);
        const { runId, requestId } = run;
        logger.warn({ err: error, runId, requestId }, 'reconcile_run_failed');
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, workThroughQueue));
  return failed;
}
