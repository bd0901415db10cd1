import type { Logger } from 'pino';
import type { Run } from '../../core/runs/run.ts';

const atOnce = 5;

/**
 * One run that cannot be dealt with keeps no other waiting; the next pass comes back to it. Returns
 * those. Some are dealt with at a time, so that an answer that takes its time is not waited for as
 * often as there are runs.
 */
export async function forEachRun(
  runs: Run[],
  logger: Logger,
  work: (run: Run) => Promise<void>,
): Promise<Run[]> {
  const failed: Run[] = [];
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
