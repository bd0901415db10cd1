import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { pagePath } from '../../core/page/page-paths.ts';
import type { RunOutline } from '../../core/runs/run.ts';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { linkTo, type Memo } from '../../core/temporal/workflow-memo.ts';
import type { RunInput, SessionInput } from '../../workflows/shared/inputs.ts';
import type { SessionTimeouts } from '../../workflows/shared/session-timeouts.ts';
import type { StopSignalPayload } from '../../workflows/shared/signals.ts';
import { withSearchAttributes } from './search-attributes.ts';

export interface RunStarter {
  /** Safe to repeat: a running workflow is kept, and an ended one is never started again. */
  startRun(run: RunOutline): Promise<'started' | 'already'>;
  /**
   * Starts the session's workflow if it has not started. `gone`: it has ended, and a message does
   * not restart it.
   */
  signalMessage(run: RunOutline, messageId: string): Promise<'signalled' | 'gone'>;
  /**
   * Starts the workflow if its start was not recorded, because it may be in flight. `gone`: it has
   * ended.
   */
  stopRun(run: RunOutline, stop: StopSignalPayload): Promise<'signalled' | 'gone'>;
}

interface StarterOptions {
  client: Client;
  instance: string;
  /** The operator's overrides of the defaults. */
  timeouts: Partial<SessionTimeouts>;
  /** The service's own URL. */
  publicUrl: string | null;
  withDeadline<T>(call: () => Promise<T>): Promise<T>;
}

export function createRunStarter(options: StarterOptions): RunStarter {
  const { withDeadline } = options;
  return {
    startRun: (run) => withDeadline(() => startRun(options, run)),
    signalMessage: (run, messageId) => withDeadline(() => signalMessage(options, run, messageId)),
    stopRun: (run, stop) => withDeadline(() => stopRun(options, run, stop)),
  };
}

interface RunSignal {
  name: 'message' | 'stop';
  payload: { messageId: string } | StopSignalPayload;
}

async function startRun(options: StarterOptions, run: RunOutline): Promise<'started' | 'already'> {
  try {
    await withSearchAttributes(run, (typedSearchAttributes) =>
      options.client.workflow.start(workflowOf(run), {
        ...startOptions(options, run),
        typedSearchAttributes,
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    );
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    throw error;
  }
}

/**
 * A session that has had a sandbox has a workflow, so it is only signalled: that is less work for
 * the server.
 */
async function signalMessage(
  options: StarterOptions,
  run: RunOutline,
  messageId: string,
): Promise<'signalled' | 'gone'> {
  const signal = { name: 'message', payload: { messageId } } as const;
  if (run.startedAt !== null && (await signalRunning(options, run, signal))) return 'signalled';
  return signalWithStart(options, run, signal);
}

async function stopRun(
  options: StarterOptions,
  run: RunOutline,
  stop: StopSignalPayload,
): Promise<'signalled' | 'gone'> {
  const signal = { name: 'stop', payload: stop } as const;
  if (run.workflowStartedAt === null) return signalWithStart(options, run, signal);
  return (await signalRunning(options, run, signal)) ? 'signalled' : 'gone';
}

async function signalWithStart(
  options: StarterOptions,
  run: RunOutline,
  { name, payload }: RunSignal,
): Promise<'signalled' | 'gone'> {
  try {
    await withSearchAttributes(run, (typedSearchAttributes) =>
      options.client.workflow.signalWithStart(workflowOf(run), {
        ...startOptions(options, run),
        typedSearchAttributes,
        signal: name,
        signalArgs: [payload],
      }),
    );
    return 'signalled';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'gone';
    throw error;
  }
}

/** False if no workflow with this id is running. */
async function signalRunning(
  { client }: StarterOptions,
  { workflowId }: RunOutline,
  { name, payload }: RunSignal,
): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal(name, payload);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

const workflowOf = ({ sessionId }: RunOutline): 'runWorkflow' | 'sessionWorkflow' =>
  sessionId === null ? 'runWorkflow' : 'sessionWorkflow';

function startOptions(options: StarterOptions, run: RunOutline) {
  const kind = run.sessionId === null ? 'run' : 'session';
  const memo = memoOf(options, run);
  return {
    workflowId: run.workflowId,
    taskQueue: runQueue(options.instance),
    args: [inputOf(options, run)],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    staticSummary: `${run.triggerType} ${kind} of flow ${run.flowId}`,
    staticDetails: staticDetails(run, memo),
    memo: { ...memo },
  };
}

/** A session's input has no host: its workflow claims a slot when a message waits. */
function inputOf({ instance, timeouts }: StarterOptions, run: RunOutline): RunInput | SessionInput {
  if (run.sessionId !== null) {
    return {
      runId: run.runId,
      projectId: run.projectId,
      flowId: run.flowId,
      instance,
      timeouts: { ...timeouts, runMs: run.timeoutSeconds * 1_000 },
    };
  }
  return {
    runId: run.runId,
    projectId: run.projectId,
    flowId: run.flowId,
    instance,
    hostId: run.hostId,
    generation: run.generation,
    timeouts: { ...timeouts, runMs: run.timeoutSeconds * 1_000 },
  };
}

/** Ids and the size of the prompt, never its text. */
function memoOf({ publicUrl }: StarterOptions, run: RunOutline): Memo {
  const { runId, flowId, projectId, triggerType, timeoutSeconds, sessionId } = run;
  const page = `${publicUrl}${pagePath('run', { projectId, runId })}`;
  return {
    ...{ runId, flowId, projectId, triggerType, timeoutSeconds },
    ...(sessionId === null ? {} : { sessionId }),
    prompt: `${run.promptBytes} bytes`,
    ...(publicUrl === null ? {} : { page }),
  };
}

/** Shown in Temporal's web interface even without a worker. */
const staticDetails = (run: RunOutline, { prompt, page }: Memo): string =>
  [
    `**Run** \`${run.runId}\``,
    `**Flow** \`${run.flowId}\``,
    `**Project** \`${run.projectId}\``,
    `**Trigger** ${run.triggerType}`,
    `**Time limit** ${run.timeoutSeconds} s`,
    `**Prompt** ${prompt}`,
    ...(page === undefined ? [] : [linkTo(page)]),
  ].join('  \n');
