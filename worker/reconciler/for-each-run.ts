import type { Logger } from 'pino';
import type { RunOutline } from '../../core/runs/run.ts';
import { stepDeadline } from './step-deadline.ts';

const atOnce = 5;

interface ForEachRunOptions {
  logger: Logger;
  /** The step's own, if it is not given. */
  deadline?: ReturnType<typeof stepDeadline>;
}

type RunRef = Pick<RunOutline, 'runId' | 'requestId'>;

interface ForEachRunOutcome<R extends RunRef> {
  failed: R[];
  /** Not processed within the time limit of the step, in the order of the runs. */
  left: R[];
}

/**
 * Processes a few runs at a time, so that one slow answer does not delay all of them, and begins
 * none after the deadline. The next pass processes the others.
 */
export async function forEachRun<R extends RunRef>(
  runs: R[],
  { logger, deadline = stepDeadline() }: ForEachRunOptions,
  work: (run: R) => Promise<void>,
): Promise<ForEachRunOutcome<R>> {
  const failed: R[] = [];
  const left = new Set<R>();
  const waiting = runs.values();
  async function workThroughQueue(): Promise<void> {
    for (const run of waiting) {
      if (deadline.isOver()) {
        left.add(run);
        continue;
      }
      try {
        await work(run);
      } catch (error) {
        // The end of the step may have cut its request off.
        if (deadline.isOver()) left.add(run);
        else failed.push(run);
        const { runId, requestId } = run;
        logger.warn({ err: error, runId, requestId }, 'reconcile_run_failed');
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, workThroughQueue));
  return { failed, left: runs.filter((run) => left.has(run)) };
}

type WorkThroughPage = (
  options: ForEachRunOptions,
  work: (run: RunOutline) => Promise<void>,
) => Promise<void>;

/**
 * Each call processes one page of runs. The next page begins after its last run, and after all runs
 * with the first one again, so that runs whose repair fails at every pass do not delay the others.
 */
export function forEachInTurn(
  readPage: (after?: string) => Promise<RunOutline[]>,
): WorkThroughPage {
  let after: string | undefined;
  return async (options, work) => {
    const page = await readPage(after);
    const { left } = await forEachRun(page, options, work);
    const taken = left[0] === undefined ? page : page.slice(0, page.indexOf(left[0]));
    after = taken.at(-1)?.runId ?? after;
  };
}
