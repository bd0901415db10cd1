import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import { isHostLost, startFailed } from '../run/run-outcomes.ts';
import type { SessionSlot } from '../shared/activities.ts';
import { setSessionHost } from '../shared/search-attributes.ts';
import { awaitInterruptible } from './interruptible-activity.ts';
import {
  type ActiveSandbox,
  activeSandbox,
  removeInBackground,
  type SessionContext,
  sandboxOn,
} from './session-context.ts';

/** The sandbox that is up, or the next one; null where there is none to be had, or no use for one. */
export async function ensureSandbox(context: SessionContext): Promise<ActiveSandbox | null> {
  const held = activeSandbox(context);
  if (held !== null) return held;
  context.report({ phase: 'taking a place' });
  const place = await claimSlot(context);
  if (place?.outcome !== 'assigned') return null;
  return startSandboxOn(context, place);
}

/**
 * Null where every host was full for too long. The message that waited for it fails, the session stays:
 * the next message asks again.
 */
async function claimSlot(context: SessionContext): Promise<SessionSlot | null> {
  const { runId, activities: work, state, inbox } = context;
  try {
    const place = await work.claimSessionSlot({ runId, after: state.generation });
    // A cause was recorded, and that one stands.
    if (place.outcome === 'ended') setEnd(context, 'terminated_by_operator', null);
    return place;
  } catch {
    // The number is used up, so that a place which is given too late is not this one.
    state.generation += 1;
    const { more } = await work.failTurn({ runId, generation: state.generation });
    inbox.hasPendingMessages ||= more;
    return null;
  }
}

async function startSandboxOn(
  context: SessionContext,
  place: { hostId: string; generation: number },
): Promise<ActiveSandbox | null> {
  const { runId, instance, state, report: tell } = context;
  state.generation = place.generation;
  const container = sandboxName({ runId, instance, generation: place.generation });
  setSessionHost(place.hostId);
  tell({ phase: 'starting the sandbox', host: place.hostId, container });
  const next = sandboxOn(context, place);
  const started = await awaitInterruptible(context, next, next.host.startSandbox(next.ref));
  if (started.kind === 'done' && started.value.outcome === 'started') {
    state.sandbox = { hostId: place.hostId, generation: place.generation };
    return next;
  }
  const error = started.kind === 'failed' ? started.error : null;
  handleSandboxLoss(context, next, error);
  if (error !== null && context.end !== null) context.end = startFailed(error).end;
  return null;
}

/** One that has ended unasked. Its session goes on in another, unless that has come to nothing too often. */
export function handleSandboxLoss(
  context: SessionContext,
  place: ActiveSandbox,
  error: unknown,
): void {
  const { state, timeouts: times, inbox } = context;
  state.sandbox = null;
  state.consecutiveLosses += 1;
  inbox.hasPendingMessages = true;
  if (!isHostLost(error)) removeInBackground(context, place);
  if (state.consecutiveLosses < times.maxConsecutiveLosses) return;
  setEnd(context, 'max_reconnects_exceeded', 'its sandboxes were lost one after the other');
}

export function setEnd(
  context: SessionContext,
  cause:
    | 'terminated_by_operator'
    | 'container_start_failed'
    | 'max_reconnects_exceeded'
    | 'timed_out',
  detail: string | null,
): void {
  context.end ??= { cause, detail, exitCode: null };
}

/** Its host stores what the next sandbox needs, and gives the place back if nothing is to be done. */
export async function stopSandbox(
  context: SessionContext,
  { host, ref }: ActiveSandbox,
  graceMs: number,
): Promise<void> {
  await host.stopSandbox({ ...ref, graceMs }).catch(() => undefined);
  await host.followRun(ref).catch(() => undefined);
  context.state.sandbox = null;
  removeInBackground(context, { host, ref });
}
