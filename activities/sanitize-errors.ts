import { ApplicationFailure, activityInfo, CancelledFailure } from '@temporalio/activity';
import type { Logger } from 'pino';

/** The log fields of a run of which only the id is known. Never rejects. */
export type RunLogContext = (runId: string) => Promise<{
  runId: string;
  /** Null for scheduled runs, and if the database does not answer in time. */
  requestId: string | null;
}>;

export interface SanitizeDeps {
  logger: Logger;
  runLogContext: RunLogContext;
}

/**
 * Temporal stores failures in plain text and shows them to operators, and a library's error message
 * may quote its input. Failures with our own wording pass; other errors are logged and replaced.
 */
export function withSanitizedErrors<Input extends { runId: string }, Output>(
  { logger, runLogContext }: SanitizeDeps,
  name: string,
  act: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    try {
      return await act(input);
    } catch (error) {
      if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
      const { attempt, workflowExecution } = activityInfo();
      const about = await runLogContext(input.runId);
      const during = { activity: name, attempt, workflowId: workflowExecution?.workflowId };
      logger.warn({ err: error, ...about, ...during }, 'activity_failed');
      throw ApplicationFailure.retryable(
        `${name} failed; see the worker's log for the reason`,
        nameOf(error),
      );
    }
  };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');
