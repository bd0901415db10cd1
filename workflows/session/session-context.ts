import type { RunEnd } from '../../core/runs/end-cause.ts';
import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type {
  HostActivities,
  RunActivities,
  SandboxRef,
  SessionActivities,
} from '../shared/activities.ts';
import { hostActivities, runActivities, sessionActivities } from '../shared/activity-proxies.ts';
import { type SessionTimes, sessionTimes } from '../shared/session-timeouts.ts';
import type { SessionInput, SessionState } from '../shared/signals.ts';
import { type Teller, tellOperators } from '../shared/workflow-details.ts';
import { type Inbox, listenForSession } from './session-inbox.ts';

/** All that the parts of a session's workflow share. */
export interface SessionContext {
  runId: string;
  instance: string;
  times: SessionTimes;
  /** Kept up to date: the next history begins with it. */
  state: SessionState;
  inbox: Inbox;
  work: RunActivities & SessionActivities;
  tell: Teller;
  /** Why the session ends by itself; null as long as it does not. */
  end: RunEnd | null;
  /** Turns since this history began. */
  turns: number;
  /** What is left of earlier sandboxes and has been neither removed nor given up. */
  removals: Set<Promise<void>>;
}

export interface HeldPlace {
  host: HostActivities;
  ref: SandboxRef;
}

const beginning: SessionState = { place: null, generation: 0, isDue: false, losses: 0 };

export function createSessionContext(input: SessionInput): SessionContext {
  const { runId, instance } = input;
  const times = { ...sessionTimes, ...input.times };
  const state = { ...beginning, ...input.state };
  return {
    runId,
    instance,
    times,
    state,
    inbox: listenForSession(state.isDue, times.timeLimitGraceMs),
    work: { ...runActivities(instance, times), ...sessionActivities(instance, times) },
    tell: tellOperators(whereabouts(input, state)),
    end: null,
    turns: 0,
    removals: new Set(),
  };
}

/** A history that begins anew has the sandbox of the one before it. */
function whereabouts({ runId, instance }: SessionInput, { place }: SessionState) {
  if (place === null) return {};
  const { hostId, generation } = place;
  return { host: hostId, container: sandboxName({ runId, instance, generation }) };
}

export const isOver = ({ end, inbox }: SessionContext): boolean =>
  end !== null || inbox.order !== null;

/** Null where there is none, or none that answers. */
export function heldPlace(context: SessionContext): HeldPlace | null {
  const { place } = context.state;
  return place === null || isLost(context, place) ? null : placeOn(context, place);
}

export const isLost = ({ inbox }: SessionContext, of: { generation: number }): boolean =>
  of.generation <= inbox.lostUpTo;

export function placeOn(
  { runId, instance, times }: SessionContext,
  { hostId, generation }: { hostId: string; generation: number },
): HeldPlace {
  return { host: hostActivities(instance, hostId, times), ref: { runId, generation } };
}

/** Beside what comes next; the reconciler removes what a host could not. */
export function removeBeside(context: SessionContext, { host, ref }: HeldPlace): void {
  const { removals } = context;
  const removal: Promise<void> = host
    .removeSandbox(ref)
    .catch(() => undefined)
    .then(() => void removals.delete(removal));
  removals.add(removal);
}
