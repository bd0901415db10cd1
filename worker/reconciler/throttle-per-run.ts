import type { Run } from '../../core/runs/run.ts';
import type { ReconcilerDeps } from './deps.ts';
import { eachRun } from './for-each-run.ts';

/**
 * Tells the workflows of the runs that it is given, and of one that it is given again and again only
 * now and then: the word may have been lost, or it may take a while until something comes of it.
 */
export function nowAndThen(
  { logger, now, times }: Pick<ReconcilerDeps, 'logger' | 'now' | 'times'>,
  tell: (run: Run) => Promise<void>,
): (runs: Run[]) => Promise<void> {
  let toldAt = new Map<string, number>();
  return async (runs) => {
    toldAt = new Map(runs.map(({ runId }) => [runId, toldAt.get(runId) ?? 0]));
    const at = now().getTime();
    const due = runs.filter(({ runId }) => (toldAt.get(runId) ?? 0) < at - times.nudgeAgainMs);
    await eachRun(due, logger, async (run) => {
      await tell(run);
      toldAt.set(run.runId, at);
    });
  };
}
