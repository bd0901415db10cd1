import { awaitInterruptible } from './interruptible-activity.ts';
import type { SessionContext } from './session-context.ts';
import { ensureSandbox, handleSandboxLoss, stopSandbox } from './session-sandbox.ts';

/** Runs the turn of the oldest waiting message, if any, in the active sandbox or a new one. */
export async function takeTurn(context: SessionContext): Promise<void> {
  const { inbox, state, timeouts, report } = context;
  inbox.hasPendingMessages = false;
  const sandbox = await ensureSandbox(context);
  if (sandbox === null) return;
  report({ phase: 'running a turn' });
  inbox.interruptCurrentTurn = false;
  const turn = await awaitInterruptible(context, sandbox, sandbox.host.runTurn(sandbox.ref));
  context.turns += 1;
  if (turn.kind === 'failed') return handleSandboxLoss(context, sandbox, turn.error);
  switch (turn.value.outcome) {
    case 'done':
      state.consecutiveLosses = 0;
      inbox.interruptedMessageIds.clear();
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
