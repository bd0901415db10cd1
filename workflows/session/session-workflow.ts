// A session, for its whole life: it waits for messages, keeps a sandbox for as long as there are any,
// and puts it to sleep when there have been none for a while. Which message comes next is read in
// Postgres by the sandbox's host; a signal says no more than that there may be one, so that signals
// that come twice, late, or in another order change nothing.
//
// Between two turns nothing is under way, and only there does the history begin anew.

import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { setEnded } from '../shared/search-attributes.ts';
import type { SessionInput } from '../shared/signals.ts';
import { recordStopCause } from './interruptible-activity.ts';
import {
  activeSandbox,
  createSessionContext,
  isEnding,
  type SessionContext,
} from './session-context.ts';
import { waitForWork } from './session-idle.ts';
import { stopSandbox } from './session-sandbox.ts';
import { takeTurn } from './session-turn.ts';

export async function sessionWorkflow(input: SessionInput): Promise<{ cause: EndCause }> {
  const context = createSessionContext(input);
  return CancellationScope.nonCancellable(async () => {
    while (!isEnding(context)) {
      if (shouldContinueAsNew(context)) await continueWorkflow(context, input);
      else if (context.inbox.hasPendingMessages) await takeTurn(context);
      else await waitForWork(context);
    }
    return { cause: await endSession(context) };
  });
}

/**
 * A long history grows on where a host that may be dying has yet to remove a sandbox: no turn waits. So
 * it does where a turn that was cut off with its host is to end in the next sandbox: only it knows that.
 */
const shouldContinueAsNew = ({
  turns,
  timeouts: times,
  removals,
  inbox,
}: SessionContext): boolean =>
  removals.size === 0 &&
  inbox.interruptedMessageIds.size === 0 &&
  (workflowInfo().continueAsNewSuggested || turns >= times.turnsPerHistory);

/** A signal that this history has not read by then is kept by the server for the next one. */
async function continueWorkflow(context: SessionContext, input: SessionInput): Promise<void> {
  const { state, inbox } = context;
  const isPlaceHeld = activeSandbox(context) !== null;
  await continueAsNew<typeof sessionWorkflow>({
    ...input,
    state: {
      ...state,
      sandbox: isPlaceHeld ? state.sandbox : null,
      hasPendingMessages: inbox.hasPendingMessages,
    },
  });
}

async function endSession(context: SessionContext): Promise<EndCause> {
  const { runId, activities: work, inbox, report: tell } = context;
  tell({ phase: 'ending the session' });
  await recordStopCause(context);
  const sandbox = activeSandbox(context);
  if (sandbox !== null) await stopSandbox(context, sandbox, inbox.stopRequest?.graceMs ?? 0);
  const ordered = {
    cause: inbox.stopRequest?.cause ?? 'terminated_by_operator',
    detail: null,
  } as const;
  const end = context.end ?? { ...ordered, exitCode: null };
  const { cause } = await work.endRun({ runId, ...end });
  setEnded();
  tell({ phase: 'cleaning up', cause });
  await Promise.all(context.removals);
  tell({ phase: 'over' });
  return cause;
}
