import type { EndCause } from '../../core/runs/end-cause.ts';

/** Every command can exit with 1 and 2; only `apply --check` exits with 3. */
export const exitCodes = {
  completed: 0,
  failure: 1,
  drift: 3,
  agentError: 10,
  stopped: 11,
  timedOut: 12,
  budget: 13,
  noSlot: 14,
  hostLost: 15,
  interrupted: 130,
} as const;

/** The exit code for the `error` of a run that has ended. */
export function exitCodeOf(error: string | undefined): number {
  if (error === undefined) return exitCodes.completed;
  const cause = error.replace(/:.*/s, '');
  // An agent that has exited, and causes of a later version of the service.
  return Object.hasOwn(byCause, cause) ? byCause[cause as EndCause] : exitCodes.agentError;
}

const byCause: Record<EndCause, number> = {
  completed: exitCodes.completed,
  exited: exitCodes.agentError,
  out_of_memory: exitCodes.agentError,
  no_result: exitCodes.agentError,
  disk_full: exitCodes.agentError,
  output_tampered: exitCodes.agentError,
  stopped_by_api: exitCodes.stopped,
  deleted_by_api: exitCodes.stopped,
  interrupted_by_api: exitCodes.stopped,
  terminated_by_operator: exitCodes.stopped,
  timed_out: exitCodes.timedOut,
  stalled: exitCodes.timedOut,
  hung_after_result: exitCodes.timedOut,
  budget_exceeded: exitCodes.budget,
  max_turns_exceeded: exitCodes.budget,
  container_start_failed: exitCodes.noSlot,
  max_reconnects_exceeded: exitCodes.hostLost,
  lost_in_restore: exitCodes.hostLost,
};
