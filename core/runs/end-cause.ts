/** Why a run ended. Written once: the first recorded cause wins. */
export const endCauses = [
  'completed',
  'exited',
  'stopped_by_api',
  'deleted_by_api',
  'interrupted_by_api',
  'terminated_by_operator',
  'max_reconnects_exceeded',
  'container_start_failed',
  'out_of_memory',
  'timed_out',
  'stalled',
  'hung_after_result',
  'no_result',
  'budget_exceeded',
  'max_turns_exceeded',
  'disk_full',
  'output_tampered',
  // For a run that is missing after the database was restored from a backup.
  'lost_in_restore',
] as const;

export type EndCause = (typeof endCauses)[number];

/** How a run or sandbox ended. */
export interface RunEnd {
  cause: EndCause;
  detail: string | null;
  exitCode: number | null;
}

/** The `error` of the run record and the webhook; null on clean completion. */
export function errorOf(end: RunEnd): string | null {
  switch (end.cause) {
    case 'completed':
      return null;
    case 'exited':
      return `Process exited with code ${end.exitCode ?? 'unknown'}`;
    case 'container_start_failed':
      return `container_start_failed: ${end.detail ?? 'unknown'}`;
    default:
      return end.cause;
  }
}

export type FinishedReason =
  | 'completed'
  | 'stopped'
  | 'deleted'
  | 'error'
  | 'no_upstream'
  | 'already_ended';

/** The `reason` of the stream's `finished` event for a reader that was connected at the end. */
export function finishedReasonOf(cause: EndCause): FinishedReason {
  switch (cause) {
    case 'completed':
      return 'completed';
    case 'stopped_by_api':
    case 'interrupted_by_api':
      return 'stopped';
    case 'deleted_by_api':
      return 'deleted';
    case 'container_start_failed':
      return 'no_upstream';
    default:
      return 'error';
  }
}

/** How the workflow of a run or session closes in Temporal. */
type CloseStatus = 'completed' | 'cancelled' | 'failed';

export function closeStatusOf(cause: EndCause): CloseStatus {
  switch (cause) {
    case 'completed':
      return 'completed';
    case 'stopped_by_api':
    case 'deleted_by_api':
    case 'interrupted_by_api':
    case 'terminated_by_operator':
      return 'cancelled';
    default:
      return 'failed';
  }
}
