import type { Run } from '../../core/runs/run.ts';
import type { LogState } from '../../systems/postgres/log/run-progress.ts';
import type { ApiDeps } from '../deps.ts';

/** How a run stands, as far as this process has heard. */
export interface FeedState {
  now: () => LogState;
  /** Says that it has changed. */
  expect: () => void;
  /** Reads it where a change was announced. */
  refresh: () => Promise<void>;
  /** What somebody has read in Postgres; true where it is news. */
  set: (found: LogState) => boolean;
}

export function createFeedState({ frames }: Pick<ApiDeps, 'frames'>, run: Run): FeedState {
  let state = stateOf(run);
  let isDue = false;

  function set(found: LogState): boolean {
    // An end is final: whoever does not know of it has read earlier.
    if (found.endedAt === null && state.endedAt !== null) return false;
    const isNews =
      found.status !== state.status || found.endedAt?.getTime() !== state.endedAt?.getTime();
    state = found;
    return isNews;
  }

  return {
    now: () => state,
    expect() {
      isDue = true;
    },
    async refresh() {
      if (!isDue) return;
      isDue = false; // what is announced during the read may be too late for it
      const found = await frames.state(run.runId).catch((error: unknown) => {
        isDue = true;
        throw error;
      });
      if (found !== null) set(found);
    },
    set,
  };
}

export function stateOf(run: Run): LogState {
  const { lastSeq, status, agentStatus, endedAt, endCause, exitCode, deletedAt } = run;
  return { lastSeq, status, agentStatus, endedAt, endCause, exitCode, deletedAt };
}
