import type { ContainerInspectInfo } from 'dockerode';

export type ContainerStatus = 'created' | 'running' | 'paused' | 'exited' | 'missing';

/** What the engine knows of a sandbox. The exit code is a fact only of one that has exited. */
export interface ContainerState {
  status: ContainerStatus;
  exitCode: number | null;
  /** Something inside ran out of memory; whether that ended the run, the exit code tells. */
  oomKilled: boolean;
  /** Why it could not start, in the engine's words. */
  startError: string | null;
  startedAt: Date | null;
  finishedAt: Date | null;
}

export const missingContainer: ContainerState = {
  status: 'missing',
  exitCode: null,
  oomKilled: false,
  startError: null,
  startedAt: null,
  finishedAt: null,
};

export function containerState({ State: state }: ContainerInspectInfo): ContainerState {
  const status = statusOf(state.Status);
  if (status === 'missing') return missingContainer;
  return {
    status,
    exitCode: status === 'exited' ? state.ExitCode : null,
    oomKilled: state.OOMKilled,
    startError: state.Error === '' ? null : state.Error,
    startedAt: timeOf(state.StartedAt),
    finishedAt: timeOf(state.FinishedAt),
  };
}

/** Words of the engine that we never cause (a restart policy) or cannot act on are mapped as well. */
export function statusOf(word: string): ContainerStatus {
  switch (word) {
    case 'created':
    case 'running':
    case 'paused':
    case 'exited':
      return word;
    case 'restarting':
      return 'running';
    case 'dead':
      return 'exited';
    default:
      return 'missing';
  }
}

/** The engine writes the year 1 for what has not happened. */
function timeOf(text: string): Date | null {
  const at = new Date(text);
  return at.getTime() > 0 ? at : null;
}
