import { activityInfo, heartbeat } from '@temporalio/activity';

/**
 * What the executions of a delivery's activity report to Temporal, which keeps it between them. The
 * database can lose its rows in a restore, and does not know which of its claims got no answer.
 */
interface DeliveryProgress {
  /** The highest number of an attempt that was made, or may have been. */
  made: number;
  /** The last executions, if their claims got no answer and they sent nothing. */
  unanswered: { from: number; to: number } | null;
}

/** One execution of a delivery's activity. */
export interface DeliveryExecution extends DeliveryProgress {
  claimedBy: string;
  execution: number;
  taskQueue: string;
  report(progress: DeliveryProgress): void;
}

export function currentExecution(firstAttempt: number): DeliveryExecution {
  const info = activityInfo();
  const { attempt, taskQueue, workflowExecution } = info;
  const progress = info.heartbeatDetails as DeliveryProgress | undefined; // only of `report`
  return {
    ...(progress ?? { made: firstAttempt - 1, unanswered: null }),
    claimedBy: workflowExecution?.runId ?? '',
    execution: attempt,
    taskQueue,
    report: heartbeat,
  };
}
