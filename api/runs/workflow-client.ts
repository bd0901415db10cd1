// Calls from the API to Temporal. The answer to a client never depends on them: the reconciler
// repeats a failed call from the state in Postgres. So a request waits for a call up to a deadline,
// and the call continues in the background.

import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import { settlesWithin } from '../../lib/async/timeout.ts';
import type { ApiDeps } from '../deps.ts';

export interface WorkflowClient {
  start: (run: Run) => Promise<void>;
  stop: (run: Run, graceMs: number) => Promise<void>;
  /** `gone`: the session has ended and rejects the message. */
  message: (run: Run, messageId: string) => Promise<'sent' | 'gone'>;
  /** Interrupts the turn of this message, and no later one. */
  interrupt: (run: Run, messageId: string) => Promise<void>;
  /** Requests an idle session to sleep. */
  sleep: (run: Run) => Promise<void>;
  /** Waits up to a deadline for the calls in the background. */
  close: () => Promise<void>;
}

type ClientDeps = Pick<
  ApiDeps,
  | 'runs'
  | 'messages'
  | 'startRun'
  | 'signalStop'
  | 'signalMessage'
  | 'signalInterrupt'
  | 'signalSleep'
  | 'logger'
>;

export function createWorkflowClient(deps: ClientDeps): WorkflowClient {
  const { runs, startRun, signalStop, logger } = deps;
  const open = new Set<Promise<unknown>>();

  function withDeadline<T>(call: Promise<T>, waitMs: number): Promise<T | void> {
    open.add(call);
    void call.finally(() => open.delete(call));
    return settlesWithin(waitMs, call).then((inTime) => (inTime ? call : undefined));
  }

  async function start(run: Run): Promise<void> {
    try {
      await startRun(run);
      failpoint('trigger.started');
      logger.debug(logContext(run), 'workflow_started');
      await runs.markWorkflowStarted(run.runId);
      failpoint('trigger.marked');
    } catch (err) {
      logger.warn({ err, ...logContext(run) }, 'workflow_start_deferred');
    }
  }

  async function stop(run: Run, graceMs: number): Promise<void> {
    try {
      await signalStop(run.workflowId, { graceMs });
    } catch (err) {
      logger.warn({ err, ...logContext(run) }, 'stop_deferred');
    }
  }

  async function message(run: Run, messageId: string): Promise<'sent' | 'gone'> {
    try {
      if ((await deps.signalMessage(run, messageId)) === 'gone') return 'gone';
      failpoint('chat.signalled');
      await deps.messages.markSignalled(messageId);
      failpoint('chat.marked');
    } catch (err) {
      logger.warn({ err, ...logContext(run), messageId }, 'message_signal_deferred');
    }
    return 'sent';
  }

  return {
    message: async (run, messageId) =>
      (await withDeadline(message(run, messageId), limits.workflow.signalWaitMs)) ?? 'sent',
    interrupt: (run, messageId) =>
      withDeadline(
        sendSignal(logger, run, (workflowId) => deps.signalInterrupt(workflowId, { messageId })),
        limits.workflow.signalWaitMs,
      ),
    sleep: (run) =>
      withDeadline(sendSignal(logger, run, deps.signalSleep), limits.workflow.signalWaitMs),
    start: (run) => withDeadline(start(run), limits.workflow.startWaitMs),
    stop: (run, graceMs) => withDeadline(stop(run, graceMs), limits.workflow.signalWaitMs),
    close: () => withDeadline(settleAll(open), limits.workflow.startWaitMs),
  };
}

/** The caller repeats a lost signal. */
async function sendSignal(
  logger: ClientDeps['logger'],
  run: Run,
  signal: (workflowId: string) => Promise<unknown>,
): Promise<void> {
  try {
    await signal(run.workflowId);
  } catch (err) {
    logger.warn({ err, ...logContext(run) }, 'session_signal_failed');
  }
}

/** The current request may be finished already, so this logs the request that created the run. */
const logContext = ({ runId, requestId }: Run) => ({ runId, requestId });

async function settleAll(calls: Iterable<Promise<unknown>>): Promise<void> {
  await Promise.all(calls);
}
