// Calls from the API to Temporal. The answer to a client never depends on them: the reconciler
// repeats a failed call from the state in Postgres. Starts and signals of messages are made while
// the client is answered. A request waits for other calls up to a deadline, and then they continue
// in the background.

import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import { outlineOf, type Run, type RunOutline } from '../../core/runs/run.ts';
import { settlesWithin } from '../../lib/async/timeout.ts';
import type { ApiDeps } from '../deps.ts';
import { createWakeByHint } from '../sessions/wake-by-hint.ts';
import { createWorkflowMarks } from '../workflow-marks.ts';

export interface WorkflowClient {
  start: (run: Run) => void;
  /** Notifies the session's workflow of a stored message. */
  message: (run: Run, messageId: string) => void;
  /** Has the sandbox of a sleeping session started before its workflow requests it. */
  wake: (run: Run) => void;
  stop: (run: Run, graceMs: number) => Promise<void>;
  /** Interrupts the turn of this message, and no later one. */
  interrupt: (run: Run, messageId: string) => Promise<void>;
  /** Requests an idle session to sleep. */
  sleep: (run: Run) => Promise<void>;
  /** Waits up to a deadline for the calls in flight, and records which of them were made. */
  close: () => Promise<void>;
}

type ClientDeps = Pick<
  ApiDeps,
  | 'runs'
  | 'messages'
  | 'notifications'
  | 'isTemporalReachable'
  | 'startRun'
  | 'stopRun'
  | 'signalMessage'
  | 'signalInterrupt'
  | 'signalSleep'
  | 'workflowCallsMax'
  | 'logger'
>;

export function createWorkflowClient(deps: ClientDeps): WorkflowClient {
  const marks = createWorkflowMarks(deps);
  const calls = createCalls(deps);
  const wakeByHint = createWakeByHint(deps);

  async function start(run: RunOutline): Promise<void> {
    await deps.startRun(run);
    failpoint('trigger.started');
    deps.logger.debug(logContext(run), 'workflow_started');
    marks.started(run.runId);
  }

  async function message(run: RunOutline, messageId: string): Promise<void> {
    // If the workflow has ended, its session ends too, and the message with it.
    if ((await deps.signalMessage(run, messageId)) === 'gone') return;
    failpoint('chat.signalled');
    marks.signalled(messageId);
  }

  return {
    start(run) {
      const outline = outlineOf(run);
      const context = logContext(outline);
      calls.background(() => start(outline), { event: 'workflow_start_deferred', context });
    },
    message(run, messageId) {
      const outline = outlineOf(run);
      const context = { ...logContext(outline), messageId };
      const onFailure = { event: 'message_signal_deferred', context };
      calls.background(() => message(outline, messageId), onFailure);
    },
    wake(run) {
      const context = logContext(run);
      calls.background(() => wakeByHint(run.runId), { event: 'wake_hint_failed', context });
    },
    stop: (run, graceMs) =>
      calls.awaited(() => deps.stopRun(run, { graceMs }), {
        event: 'stop_deferred',
        context: logContext(run),
      }),
    interrupt: (run, messageId) =>
      calls.awaited(() => deps.signalInterrupt(run.workflowId, { messageId }), {
        event: 'session_signal_failed',
        context: logContext(run),
      }),
    sleep: (run) =>
      calls.awaited(() => deps.signalSleep(run.workflowId), {
        event: 'session_signal_failed',
        context: logContext(run),
      }),
    async close() {
      await calls.drain();
      await marks.close();
    },
  };
}

interface FailureLog {
  event: string;
  context: object;
}

/** The reconciler, or the caller, repeats a call that fails. */
function createCalls({
  logger,
  workflowCallsMax,
}: Pick<ClientDeps, 'logger' | 'workflowCallsMax'>) {
  const inFlightMax = workflowCallsMax ?? limits.workflow.inFlightMax;
  const inFlight = new Set<Promise<void>>();
  let inBackground = 0;

  async function attempt(call: () => Promise<unknown>, onFailure: FailureLog): Promise<void> {
    try {
      await call();
    } catch (err) {
      logger.warn({ err, ...onFailure.context }, onFailure.event);
    }
  }

  function make(call: () => Promise<unknown>, onFailure: FailureLog): Promise<void> {
    const made = attempt(call, onFailure).finally(() => inFlight.delete(made));
    inFlight.add(made);
    return made;
  }

  return {
    /** Beyond the limit, the call is left to the reconciler. */
    background(call: () => Promise<unknown>, onFailure: FailureLog): void {
      if (inBackground >= inFlightMax)
        return logger.warn({ ...onFailure.context, inFlightMax }, onFailure.event);
      inBackground += 1;
      void make(call, onFailure).finally(() => {
        inBackground -= 1;
      });
    },
    async awaited(call: () => Promise<unknown>, onFailure: FailureLog): Promise<void> {
      await settlesWithin(limits.workflow.signalWaitMs, make(call, onFailure));
    },
    async drain(): Promise<void> {
      await settlesWithin(limits.workflow.drainMs, Promise.all(inFlight));
    },
  };
}

/** The current request may be finished already, so this logs the request that created the run. */
const logContext = ({ runId, requestId }: RunOutline) => ({ runId, requestId });
