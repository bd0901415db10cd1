import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import { isHostLost, startFailed } from '../run/run-outcomes.ts';
import type { SessionPlace } from '../shared/activities.ts';
import { findableByPlace } from '../shared/search-attributes.ts';
import { attend } from './interruptible-activity.ts';
import {
  type HeldPlace,
  heldPlace,
  placeOn,
  removeBeside,
  type SessionContext,
} from './session-context.ts';

/** The sandbox that is up, or the next one; null where there is none to be had, or no use for one. */
export async function ensureSandbox(context: SessionContext): Promise<HeldPlace | null> {
  const held = heldPlace(context);
  if (held !== null) return held;
  context.tell({ phase: 'taking a place' });
  const place = await claimPlace(context);
  if (place?.outcome !== 'placed') return null;
  return startOn(context, place);
}

/**
 * Null where every host was full for too long. The message that waited for it fails, the session stays:
 * the next message asks again.
 */
async function claimPlace(context: SessionContext): Promise<SessionPlace | null> {
  const { runId, work, state, inbox } = context;
  try {
    const place = await work.claimSessionPlace({ runId, after: state.generation });
    // A cause was recorded, and that one stands.
    if (place.outcome === 'over') endBy(context, 'terminated_by_operator', null);
    return place;
  } catch {
    // The number is used up, so that a place which is given too late is not this one.
    state.generation += 1;
    const { more } = await work.giveUpTurn({ runId, generation: state.generation });
    inbox.isDue ||= more;
    return null;
  }
}

async function startOn(
  context: SessionContext,
  place: { hostId: string; generation: number },
): Promise<HeldPlace | null> {
  const { runId, instance, state, tell } = context;
  state.generation = place.generation;
  const container = sandboxName({ runId, instance, generation: place.generation });
  findableByPlace(place.hostId);
  tell({ phase: 'starting the sandbox', host: place.hostId, container });
  const next = placeOn(context, place);
  const started = await attend(context, next, next.host.startSandbox(next.ref));
  if (started.kind === 'done' && started.value.outcome === 'started') {
    state.place = { hostId: place.hostId, generation: place.generation };
    return next;
  }
  const error = started.kind === 'failed' ? started.error : null;
  loseSandbox(context, next, error);
  if (error !== null && context.end !== null) context.end = startFailed(error).end;
  return null;
}

/** One that has ended unasked. Its session goes on in another, unless that has come to nothing too often. */
export function loseSandbox(context: SessionContext, place: HeldPlace, error: unknown): void {
  const { state, times, inbox } = context;
  state.place = null;
  state.losses += 1;
  inbox.isDue = true;
  if (!isHostLost(error)) removeBeside(context, place);
  if (state.losses < times.lossesMax) return;
  endBy(context, 'max_reconnects_exceeded', 'its sandboxes were lost one after the other');
}

export function endBy(
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
export async function putDown(
  context: SessionContext,
  { host, ref }: HeldPlace,
  graceMs: number,
): Promise<void> {
  await host.stopSandbox({ ...ref, graceMs }).catch(() => undefined);
  await host.followRun(ref).catch(() => undefined);
  context.state.place = null;
  removeBeside(context, { host, ref });
}
