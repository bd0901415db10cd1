// A session from its first message to its end: it waits for messages, keeps a sandbox while there
// are any, and puts the sandbox to sleep after the idle timeout. The sandbox's host reads the next
// message from Postgres. A signal only says that a message may be waiting, so duplicate, late or
// reordered signals change nothing.
//
// Between two turns no activity is in progress. Only then does the workflow continue as new.

import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { EndCause, RunEnd } from '../../core/runs/end-cause.ts';
import { closeWorkflow, recordedEnd } from '../shared/close-workflow.ts';
import type { SessionInput } from '../shared/inputs.ts';
import { setEnded } from '../shared/search-attributes.ts';
import { deliverAtEnd } from '../webhook/deliver-or-drop.ts';
import {
  awaitInterruptible,
  dropForwardedInterrupts,
  recordStopCause,
} from './interruptible-activity.ts';
import {
  activeSandbox,
  createSessionContext,
  isEnding,
  type SessionContext,
} from './session-context.ts';
import { waitForWork } from './session-idle.ts';
import { ensureSandbox, handleSandboxLoss, stopSandbox } from './session-sandbox.ts';

export async function sessionWorkflow(input: SessionInput): Promise<{ cause: EndCause }> {
  const context = createSessionContext(input);
  const end = await CancellationScope.nonCancellable(async () => {
    while (!isEnding(context)) {
      if (shouldContinueAsNew(context)) await continueWorkflow(context, input);
      else if (context.inbox.hasPendingMessages) await takeTurn(context);
      else await waitForWork(context);
    }
    return endSession(context);
  });
  return closeWorkflow(end, context);
}

/**
 * The history keeps growing while a removal on a dying host is in progress, so that no turn waits
 * for it. It also keeps growing while an interrupted turn must end in the next sandbox, because
 * only this history has the interrupt.
 */
const shouldContinueAsNew = ({ turns, timeouts, removals, inbox }: SessionContext): boolean =>
  removals.size === 0 &&
  inbox.interruptedMessages.size === 0 &&
  (workflowInfo().continueAsNewSuggested || turns >= timeouts.turnsPerHistory);

/** Temporal delivers signals that this history has not read to the next one. */
async function continueWorkflow(context: SessionContext, input: SessionInput): Promise<void> {
  const { state, inbox } = context;
  const sandbox = activeSandbox(context) === null ? null : state.sandbox;
  await continueAsNew<typeof sessionWorkflow>({
    ...input,
    state: { ...state, sandbox, hasPendingMessages: inbox.hasPendingMessages },
  });
}

/** Runs the turn of the oldest waiting message, if any, in the active sandbox or a new one. */
async function takeTurn(context: SessionContext): Promise<void> {
  const { inbox, state, timeouts, report } = context;
  inbox.hasPendingMessages = false;
  const sandbox = await ensureSandbox(context);
  if (sandbox === null) return;
  report({ phase: 'running a turn' });
  inbox.interruptCurrentTurn = false;
  const messageIds = [...inbox.signalledMessageIds];
  inbox.signalledMessageIds.clear();
  const running = sandbox.host.runTurn({ ...sandbox.ref, messageIds });
  const turn = await awaitInterruptible(context, sandbox, running);
  // Hints begin most turns, so one call may see the turns of several messages.
  context.turns += Math.max(1, messageIds.length);
  if (turn.kind === 'failed') return handleSandboxLoss(context, sandbox, turn.error);
  switch (turn.value.outcome) {
    case 'done':
      state.consecutiveLosses = 0;
      dropForwardedInterrupts(context);
      inbox.hasPendingMessages ||= turn.value.more;
      return;
    case 'sandbox_ended':
      return handleSandboxLoss(context, sandbox, null);
    case 'reconfigure':
      report({ phase: 'reconfiguring' });
      inbox.hasPendingMessages = true;
      return stopSandbox(context, sandbox, timeouts.timeLimitGraceMs);
  }
}

async function endSession(context: SessionContext): Promise<RunEnd> {
  const { runId, activities, inbox, report } = context;
  report({ phase: 'ending the session' });
  await recordStopCause(context);
  const sandbox = activeSandbox(context);
  if (sandbox !== null) await stopSandbox(context, sandbox, inbox.stopRequest?.graceMs ?? 0);
  const end = context.end ?? stoppedEnd(context);
  const { webhook, hasWebhookBacklog, cause } = await activities.endRun({ runId, ...end });
  setEnded(cause);
  report({ phase: webhook ? 'delivering the webhook' : 'cleaning up', cause });
  await Promise.all([
    webhook ? deliverAtEnd(context, hasWebhookBacklog) : null,
    ...context.removals,
  ]);
  report({ phase: 'done' });
  return recordedEnd(end, cause);
}

function stoppedEnd({ inbox }: SessionContext): RunEnd {
  const cause = inbox.stopRequest?.cause ?? 'terminated_by_operator';
  return { cause, detail: null, exitCode: null };
}
