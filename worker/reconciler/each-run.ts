import type { Logger } from 'pino';
import type { Run } from '../../core/run.ts';

/** One run that cannot be dealt with keeps no other waiting; the next pass comes back to it. */
export async function eachRun(
  runs: Run[],
  logger: Logger,
  deal: (run: Run) => Promise<void>,
): Promise<void> {
  for (const run of runs) {
    try {
      await deal(run);
    } catch (error) {
      logger.warn({ err: error, runId: run.runId }, 'reconcile_run_failed');
    }
  }
}
