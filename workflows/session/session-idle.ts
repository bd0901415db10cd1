import { condition } from '@temporalio/workflow';
import { msUntilSleep } from '../../core/sessions/idle-deadline.ts';
import { setSessionHost } from '../shared/search-attributes.ts';
import { type ActiveSandbox, activeSandbox, type SessionContext } from './session-context.ts';
import { setEnd, stopIdleSandbox } from './session-sandbox.ts';

/**
 * Returns when there is work. A sandbox that reaches its idle timeout is put to sleep meanwhile.
 */
export async function waitForWork(context: SessionContext): Promise<void> {
  const sandbox = activeSandbox(context);
  if (sandbox === null) return waitWhileAsleep(context);
  const { inbox, timeouts, report } = context;
  report({ phase: 'waiting for a message' });
  if (await condition(() => mustAct(context), timeouts.idleMs, untilSleep)) {
    if (!inbox.sleepRequested) return;
  } else if (!(await staysIdleUntilTimeout(context))) return;
  if (!inbox.hasPendingMessages && inbox.stopRequest === null) await putToSleep(context, sandbox);
}

const untilSleep = { summary: 'until the idle sandbox is put to sleep' };
const untilEnd = { summary: 'until the inactive session ends' };

const mustAct = ({ inbox }: SessionContext): boolean =>
  inbox.hasPendingMessages || inbox.sleepRequested || inbox.stopRequest !== null;

async function waitWhileAsleep(context: SessionContext): Promise<void> {
  const { inbox, timeouts, report } = context;
  inbox.sleepRequested = false;
  setSessionHost(null);
  report({ phase: 'asleep', host: null, container: null });
  if (await condition(() => mustAct(context), timeouts.inactivityMs, untilEnd)) return;
  setEnd(context, 'timed_out', 'no message for too long');
}

/** False if a signal arrives before the idle timeout. */
async function staysIdleUntilTimeout(context: SessionContext): Promise<boolean> {
  for (;;) {
    const leftMs = await remainingIdleMs(context);
    if (leftMs <= 0) return true;
    if (await condition(() => mustAct(context), leftMs, untilSleep)) return false;
  }
}

async function remainingIdleMs({ runId, activities, timeouts }: SessionContext): Promise<number> {
  const { idleForMs, unattendedForMs } = await activities.getSessionIdleness({ runId });
  // A message is stored, and its signal is on the way.
  if (idleForMs === null) return timeouts.idleMs;
  return msUntilSleep({ idleForMs, unattendedForMs }, timeouts);
}

async function putToSleep(context: SessionContext, sandbox: ActiveSandbox): Promise<void> {
  const { runId, inbox, activities, state, report } = context;
  report({ phase: 'going to sleep' });
  if (!(await stopIdleSandbox(context, sandbox))) {
    inbox.hasPendingMessages = true;
    return;
  }
  inbox.sleepRequested = false;
  // The claim finds a message whose signal was lost. It also releases the slot of a lost host.
  const slot = await activities
    .claimSessionSlot({ runId, after: state.generation })
    .catch(() => null);
  inbox.hasPendingMessages ||= slot?.outcome !== 'no_work';
}
