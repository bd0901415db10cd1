import { condition } from '@temporalio/workflow';
import { msUntilSleep } from '../../core/sessions/idle-deadline.ts';
import { setSessionHost } from '../shared/search-attributes.ts';
import { type ActiveSandbox, activeSandbox, type SessionContext } from './session-context.ts';
import { setEnd, stopSandbox } from './session-sandbox.ts';

/** Until something is to be done. A sandbox that is idle for long is put to sleep meanwhile. */
export async function waitForWork(context: SessionContext): Promise<void> {
  const sandbox = activeSandbox(context);
  if (sandbox === null) return waitWhileAsleep(context);
  const { inbox, timeouts: times, report: tell } = context;
  tell({ phase: 'waiting for a message' });
  if (await condition(() => hasWork(context), times.idleMs, untilSleep)) {
    if (!inbox.sleepRequested) return;
  } else if (!(await staysIdleUntilTimeout(context))) return;
  if (!inbox.hasPendingMessages && inbox.stopRequest === null) await putToSleep(context, sandbox);
}

const untilSleep = { summary: 'until its sandbox is put to sleep' };
const untilEnd = { summary: 'until a session that nobody speaks to ends' };

const hasWork = ({ inbox }: SessionContext): boolean =>
  inbox.hasPendingMessages || inbox.sleepRequested || inbox.stopRequest !== null;

async function waitWhileAsleep(context: SessionContext): Promise<void> {
  const { inbox, timeouts: times, report: tell } = context;
  inbox.sleepRequested = false;
  setSessionHost(null);
  tell({ phase: 'asleep', host: null, container: null });
  if (await condition(() => hasWork(context), times.inactivityMs, untilEnd)) return;
  setEnd(context, 'timed_out', 'nobody spoke to it');
}

/** False where something came up before it had been idle for long enough. */
async function staysIdleUntilTimeout(context: SessionContext): Promise<boolean> {
  for (
    let leftMs = await remainingIdleMs(context);
    leftMs > 0;
    leftMs = await remainingIdleMs(context)
  ) {
    if (await condition(() => hasWork(context), leftMs, untilSleep)) return false;
  }
  return true;
}

async function remainingIdleMs({
  runId,
  activities: work,
  timeouts: times,
}: SessionContext): Promise<number> {
  const { idleForMs, unattendedForMs } = await work.getSessionIdleness({ runId });
  // A message is on its way.
  if (idleForMs === null) return times.idleMs;
  return msUntilSleep({ idleForMs, unattendedForMs }, times);
}

async function putToSleep(context: SessionContext, sandbox: ActiveSandbox): Promise<void> {
  const { runId, inbox, activities: work, state, timeouts: times, report: tell } = context;
  inbox.sleepRequested = false;
  tell({ phase: 'going to sleep' });
  await stopSandbox(context, sandbox, times.timeLimitGraceMs);
  // A message may have come that nobody has told us of; and a lost host could not say that it sleeps.
  const place = await work.claimSessionSlot({ runId, after: state.generation }).catch(() => null);
  inbox.hasPendingMessages ||= place?.outcome !== 'no_work';
}
