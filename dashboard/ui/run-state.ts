import type { RunRecord } from '../../client/generated/types.ts';

/** What the page says about a run in one word. It also selects the shape of the mark. */
export type RunState =
  | 'starting'
  | 'working'
  | 'waiting'
  | 'idle'
  | 'sleeping'
  | 'stopping'
  | 'completed'
  | 'failed'
  | 'stopped';

type Stated = Pick<
  RunRecord,
  'status' | 'agentStatus' | 'startedAt' | 'finishedAt' | 'error' | 'stopping'
>;

export function stateOf(run: Stated): RunState {
  if (run.finishedAt !== null) return endOf(run.error);
  if (run.stopping === true) return 'stopping';
  if (run.status === 'sleep') return 'sleeping';
  if (run.agentStatus === 'waiting' || run.agentStatus === 'working') return run.agentStatus;
  return run.agentStatus === null ? 'starting' : 'idle';
}

const stops = ['stopped_by_api', 'deleted_by_api', 'interrupted_by_api', 'terminated_by_operator'];

function endOf(error: string | undefined): RunState {
  if (error === undefined) return 'completed';
  return stops.includes(error) ? 'stopped' : 'failed';
}

const words: Record<RunState, string> = {
  starting: 'Starting',
  working: 'Working',
  waiting: 'Needs an answer',
  idle: 'Idle',
  sleeping: 'Sleeping',
  stopping: 'Stopping',
  completed: 'Completed',
  failed: 'Failed',
  stopped: 'Stopped',
};

export const wordOf = (state: RunState): string => words[state];

const causes: Record<string, string | undefined> = {
  stopped_by_api: 'Stopped',
  deleted_by_api: 'Deleted',
  interrupted_by_api: 'Interrupted',
  terminated_by_operator: 'Terminated in Temporal',
  max_reconnects_exceeded: 'Host or sandbox lost',
  out_of_memory: 'Out of memory',
  disk_full: 'Out of disk space',
  timed_out: 'Time limit reached',
  stalled: 'No output for 30 minutes',
  hung_after_result: 'Agent did not exit after its result',
  no_result: 'Ended without a result',
  budget_exceeded: 'Budget reached',
  max_turns_exceeded: 'Turn limit reached',
  output_tampered: 'Output was tampered with',
  lost_in_restore: 'Lost in a restore',
};

/** The `error` of a run in words. Unknown causes stay as they are. */
export const causeOf = (error: string): string =>
  causes[error] ?? error.replace(/^container_start_failed: /, 'Did not start: ');
