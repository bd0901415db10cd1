import type { Logger } from 'pino';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';

const atOnce = 5;

interface ForEachRunOutcome<R extends Run> {
  failed: R[];
  /** Not begun within the time limit of a step. These are the last ones. */
  left: R[];
}

/**
 * Processes a few runs at a time, so that one slow answer does not delay all of them, and begins
 * none after the time limit of a step. The next pass processes the others.
 */
export async function forEachRun<R extends Run>(
  runs: R[],
  logger: Logger,
  work: (run: R) => Promise<void>,
): Promise<ForEachRunOutcome<R>> {
  const failed: R[] = [];
  const left: R[] = [];
  const waiting = runs.values();
  const untilMs = performance.now() + limits.reconciler.stepMaxMs;
  async function workThroughQueue(): Promise<void> {
    for (const run of waiting) {
      if (performance.now() >= untilMs) {
        left.push(run);
        continue;
      }
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
  return { failed, left };
}
