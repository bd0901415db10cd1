// What the API asks of Temporal. The answer to a client never depends on it: what could not be
// said now is said by the reconciler, from what Postgres holds. So a call is waited for as long as
// a client may be kept waiting, and goes on without it after that.

import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';

export interface WorkflowCalls {
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

type CallDeps = Pick<
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

export function createWorkflowCalls(deps: CallDeps): WorkflowCalls {
  const { runs, startRun, signalStop, logger } = deps;
  const open = new Set<Promise<unknown>>();

  function waitShortly<T>(call: Promise<T>, waitMs: number): Promise<T | void> {
    open.add(call);
    void call.finally(() => open.delete(call));
    return Promise.race([call, after(waitMs)]);
  }

  async function start(run: Run): Promise<void> {
    try {
      await startRun(run);
      failpoint('trigger.started');
      logger.debug(about(run), 'workflow_started');
      await runs.markWorkflowStarted(run.runId);
      failpoint('trigger.marked');
    } catch (err) {
      logger.warn({ err, ...about(run) }, 'workflow_start_left_to_reconciler');
    }
  }

  async function stop(run: Run, graceMs: number): Promise<void> {
    try {
      await signalStop(run.workflowId, { graceMs });
    } catch (err) {
      logger.warn({ err, ...about(run) }, 'stop_left_to_reconciler');
    }
  }

  async function message(run: Run, messageId: string): Promise<'sent' | 'gone'> {
    try {
      if ((await deps.signalMessage(run, messageId)) === 'gone') return 'gone';
      failpoint('chat.signalled');
      await deps.messages.markSignalled(messageId);
      failpoint('chat.marked');
    } catch (err) {
      logger.warn({ err, ...about(run), messageId }, 'message_left_to_reconciler');
    }
    return 'sent';
  }

  return {
    message: async (run, messageId) =>
      (await waitShortly(message(run, messageId), limits.workflowSignalWaitMs)) ?? 'sent',
    interrupt: (run, messageId) =>
      waitShortly(
        ask(logger, run, (workflowId) => deps.signalInterrupt(workflowId, { messageId })),
        limits.workflowSignalWaitMs,
      ),
    sleep: (run) => waitShortly(ask(logger, run, deps.signalSleep), limits.workflowSignalWaitMs),
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
async function ask(
  logger: CallDeps['logger'],
  run: Run,
  signal: (workflowId: string) => Promise<unknown>,
): Promise<void> {
  try {
    await signal(run.workflowId);
  } catch (err) {
    logger.warn({ err, ...about(run) }, 'session_not_signalled');
  }
}

/** The request that waited for the call may be over by now: these lead to the one that asked for the run. */
const about = ({ runId, requestId }: Run) => ({ runId, requestId });

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
