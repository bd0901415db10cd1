import { condition } from '@temporalio/workflow';
import { sleepInMs } from '../../core/sessions/idle-deadline.ts';
import { findableByPlace } from '../shared/search-attributes.ts';
import { type HeldPlace, heldPlace, type SessionContext } from './session-context.ts';
import { endBy, putDown } from './session-sandbox.ts';

/** Until something is to be done. A sandbox that is idle for long is put to sleep meanwhile. */
export async function rest(context: SessionContext): Promise<void> {
  const sandbox = heldPlace(context);
  if (sandbox === null) return restAsleep(context);
  const { inbox, times, tell } = context;
  tell({ phase: 'waiting for a message' });
  if (await condition(() => isCalled(context), times.idleMs, untilSleep)) {
    if (!inbox.isToSleep) return;
  } else if (!(await outlastsItsTime(context))) return;
  if (!inbox.isDue && inbox.order === null) await fallAsleep(context, sandbox);
}

const untilSleep = { summary: 'until its sandbox is put to sleep' };
const untilEnd = { summary: 'until a session that nobody speaks to ends' };

const isCalled = ({ inbox }: SessionContext): boolean =>
  inbox.isDue || inbox.isToSleep || inbox.order !== null;

async function restAsleep(context: SessionContext): Promise<void> {
  const { inbox, times, tell } = context;
  inbox.isToSleep = false;
  findableByPlace(null);
  tell({ phase: 'asleep', host: null, container: null });
  if (await condition(() => isCalled(context), times.silentMs, untilEnd)) return;
  endBy(context, 'timed_out', 'nobody spoke to it');
}

/** False where something came up before it had been idle for long enough. */
async function outlastsItsTime(context: SessionContext): Promise<boolean> {
  for (let leftMs = await mayStayMs(context); leftMs > 0; leftMs = await mayStayMs(context)) {
    if (await condition(() => isCalled(context), leftMs, untilSleep)) return false;
  }
  return true;
}

async function mayStayMs({ runId, work, times }: SessionContext): Promise<number> {
  const { idleForMs, unattendedForMs } = await work.askSessionIdleness({ runId });
  // A message is on its way.
  if (idleForMs === null) return times.idleMs;
  return sleepInMs({ idleForMs, unattendedForMs }, times);
}

async function fallAsleep(context: SessionContext, sandbox: HeldPlace): Promise<void> {
  const { runId, inbox, work, state, times, tell } = context;
  inbox.isToSleep = false;
  tell({ phase: 'going to sleep' });
  await putDown(context, sandbox, times.timeLimitGraceMs);
  // A message may have come that nobody has told us of; and a lost host could not say that it sleeps.
  const place = await work.claimSessionPlace({ runId, after: state.generation }).catch(() => null);
  inbox.isDue ||= place?.outcome !== 'asleep';
}
