import { ApplicationFailure, activityInfo, CancelledFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { RunLogContext } from '../worker/run-log-context.ts';

export interface SanitizeDeps {
  logger: Logger;
  runLogContext: RunLogContext;
}

/**
 * Failures are kept in plain text and shown to operators, and a library's message may quote what
 * it was given. So only failures of our own wording leave; the rest goes to the log.
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
        `${name} failed; the worker's log says why`,
        nameOf(error),
      );
    }
  };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');
