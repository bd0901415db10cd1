// What the API asks of Temporal. The answer to a client never depends on it: what could not be
// said now is said by the reconciler, from what Postgres holds. So a call is waited for as long as
// a client may be kept waiting, and goes on without it after that.

import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';

export interface WorkflowClient {
  start: (run: Run) => Promise<void>;
  stop: (run: Run, graceMs: number) => Promise<void>;
  /** `gone`: the session has ended, and will not take it. */
  message: (run: Run, messageId: string) => Promise<'sent' | 'gone'>;
  /** The turn of this message, and no later one. */
  interrupt: (run: Run, messageId: string) => Promise<void>;
  /** Puts a session to sleep if it has nothing to do. */
  sleep: (run: Run) => Promise<void>;
  /** Waits, as shortly, for the calls that went on without their clients. */
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

  function waitShortly<T>(call: Promise<T>, waitMs: number): Promise<T | void> {
    open.add(call);
    void call.finally(() => open.delete(call));
    return Promise.race([call, delay(waitMs)]);
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
      (await waitShortly(message(run, messageId), limits.workflowSignalWaitMs)) ?? 'sent',
    interrupt: (run, messageId) =>
      waitShortly(
        sendSignal(logger, run, (workflowId) => deps.signalInterrupt(workflowId, { messageId })),
        limits.workflowSignalWaitMs,
      ),
    sleep: (run) =>
      waitShortly(sendSignal(logger, run, deps.signalSleep), limits.workflowSignalWaitMs),
    start: (run) => waitShortly(start(run), limits.workflowStartWaitMs),
    stop: (run, graceMs) => waitShortly(stop(run, graceMs), limits.workflowSignalWaitMs),
    close: () =>
      waitShortly(
        Promise.all(open).then(() => undefined),
        limits.workflowStartWaitMs,
      ),
  };
}

/** What is lost of these is asked for again by whoever wanted it. */
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

/** The request that waited for the call may be over by now: these lead to the one that asked for the run. */
const logContext = ({ runId, requestId }: Run) => ({ runId, requestId });

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
