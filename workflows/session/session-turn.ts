import { attend } from './interruptible-activity.ts';
import type { SessionContext } from './session-context.ts';
import { ensureSandbox, loseSandbox, putDown } from './session-sandbox.ts';

/** The oldest message that is left, if there is one, in the sandbox that is up or in the next one. */
export async function takeTurn(context: SessionContext): Promise<void> {
  const { inbox, state, times, tell } = context;
  inbox.isDue = false;
  const sandbox = await ensureSandbox(context);
  if (sandbox === null) return;
  tell({ phase: 'a turn' });
  inbox.mayBeInterrupted = false;
  const turn = await attend(context, sandbox, sandbox.host.runTurn(sandbox.ref));
  context.turns += 1;
  if (turn.kind === 'failed') return loseSandbox(context, sandbox, turn.error);
  switch (turn.value.outcome) {
    case 'done':
      state.losses = 0;
      inbox.interrupted.clear();
      inbox.isDue ||= turn.value.more;
      return;
    case 'over':
      return loseSandbox(context, sandbox, null);
    case 'reconfigure':
      tell({ phase: 'taking up another configuration' });
      inbox.isDue = true;
      return putDown(context, sandbox, times.timeLimitGraceMs);
  }
}
