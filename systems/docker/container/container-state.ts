import type { ContainerInspectInfo } from 'dockerode';

export type ContainerStatus = 'created' | 'running' | 'paused' | 'exited' | 'missing';

/** The exit code is null unless the container has exited. */
export interface ContainerState {
  status: ContainerStatus;
  exitCode: number | null;
  /** A process inside ran out of memory; the exit code shows whether that ended the run. */
  oomKilled: boolean;
  /** The engine's message if it could not start. */
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

/** Also maps states that Flowrun never causes (`restarting`) or cannot act on. */
export function statusOf(state: string): ContainerStatus {
  switch (state) {
    case 'created':
    case 'running':
    case 'paused':
    case 'exited':
      return state;
    case 'restarting':
      return 'running';
    case 'dead':
      return 'exited';
    default:
      return 'missing';
  }
}

/** The engine reports the year 1 for events that have not happened. */
function timeOf(text: string): Date | null {
  const at = new Date(text);
  return at.getTime() > 0 ? at : null;
}
