import { type FinishedReason, finishedReasonOf } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import type { RunProgress } from '../../systems/postgres/log/run-progress.ts';
import { sseEvent } from './sse-writer.ts';

/**
 * The last event of a stream. Its ID is one beyond the log, so that a browser that reconnects
 * automatically gets nothing but the end.
 */
export function finishedEvent(
  whenConnected: Run,
  { endCause, exitCode, lastSeq }: RunProgress,
): Buffer {
  const { sessionId, runId } = whenConnected;
  const data = JSON.stringify({
    sessionId: sessionId ?? runId,
    reason: reasonOf(whenConnected, endCause),
    ...(exitCode === null ? {} : { exitCode }),
  });
  return sseEvent({ event: 'finished', data, id: lastSeq + 1 });
}

function reasonOf(whenConnected: Run, endCause: RunProgress['endCause']): FinishedReason {
  if (whenConnected.endedAt !== null) return 'already_ended';
  return endCause === null ? 'error' : finishedReasonOf(endCause);
}
