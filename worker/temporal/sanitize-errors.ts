import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Activities } from '../../workflows/shared/activities.ts';
import type { RunLogContext } from '../run-log-context.ts';

export interface SanitizeDeps {
  logger: Logger;
  runLogContext: RunLogContext;
}

/** Every activity has the ID of its run, or of an event. */
type ActivityArgs = [Parameters<Activities[keyof Activities]>[0]];

/**
 * Temporal stores failures in plain text and shows them to operators, and a library's error message
 * may quote its input. Failures with our own wording pass; other errors are logged and replaced.
 */
export function sanitizeErrors({
  logger,
  runLogContext,
}: SanitizeDeps): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
          const { activityType: activity, attempt, workflowExecution } = info;
          const [of] = input.args as ActivityArgs; // only our workflows call activities
          const about = 'runId' in of ? await runLogContext(of.runId) : { eventId: of.eventId };
          const during = { activity, attempt, workflowId: workflowExecution?.workflowId };
          logger.warn({ err: error, ...about, ...during }, 'activity_failed');
          throw ApplicationFailure.retryable(
            `${activity} failed; see the worker's log for the reason`,
            nameOf(error),
          );
        }
      },
    },
  });
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');
