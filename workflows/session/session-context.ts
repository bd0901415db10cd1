import type { RunEnd } from '../../core/runs/end-cause.ts';
import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type {
  HostActivities,
  RunActivities,
  SandboxRef,
  SessionActivities,
} from '../shared/activities.ts';
import { hostActivities, runActivities, sessionActivities } from '../shared/activity-proxies.ts';
import { type SessionTimeouts, sessionTimeouts } from '../shared/session-timeouts.ts';
import type { SessionInput, SessionState } from '../shared/signals.ts';
import { createDetailsReporter, type ReportDetails } from '../shared/workflow-details.ts';
import { createInbox, type Inbox } from './session-inbox.ts';

/** All that the parts of a session's workflow share. */
export interface SessionContext {
  runId: string;
  instance: string;
  timeouts: SessionTimeouts;
  /** Kept up to date: the next history begins with it. */
  state: SessionState;
  inbox: Inbox;
  activities: RunActivities & SessionActivities;
  report: ReportDetails;
  /** Why the session ends by itself; null as long as it does not. */
  end: RunEnd | null;
  /** Turns since this history began. */
  turns: number;
  /** What is left of earlier sandboxes and has been neither removed nor given up. */
  removals: Set<Promise<void>>;
}

export interface ActiveSandbox {
  host: HostActivities;
  ref: SandboxRef;
}

const initialState: SessionState = {
  sandbox: null,
  generation: 0,
  hasPendingMessages: false,
  consecutiveLosses: 0,
};

export function createSessionContext(input: SessionInput): SessionContext {
  const { runId, instance } = input;
  const times = { ...sessionTimeouts, ...input.timeouts };
  const state = { ...initialState, ...input.state };
  return {
    runId,
    instance,
    timeouts: times,
    state,
    inbox: createInbox(state.hasPendingMessages, times.timeLimitGraceMs),
    activities: { ...runActivities(instance, times), ...sessionActivities(instance, times) },
    report: createDetailsReporter(initialDetails(input, state)),
    end: null,
    turns: 0,
    removals: new Set(),
  };
}

/** A history that begins anew has the sandbox of the one before it. */
function initialDetails({ runId, instance }: SessionInput, { sandbox: place }: SessionState) {
  if (place === null) return {};
  const { hostId, generation } = place;
  return { host: hostId, container: sandboxName({ runId, instance, generation }) };
}

export const isEnding = ({ end, inbox }: SessionContext): boolean =>
  end !== null || inbox.stopRequest !== null;

/** Null where there is none, or none that answers. */
export function activeSandbox(context: SessionContext): ActiveSandbox | null {
  const { sandbox: place } = context.state;
  return place === null || isLost(context, place) ? null : sandboxOn(context, place);
}

export const isLost = ({ inbox }: SessionContext, of: { generation: number }): boolean =>
  of.generation <= inbox.lostThroughGeneration;

export function sandboxOn(
  { runId, instance, timeouts: times }: SessionContext,
  { hostId, generation }: { hostId: string; generation: number },
): ActiveSandbox {
  return { host: hostActivities(instance, hostId, times), ref: { runId, generation } };
}

/** Beside what comes next; the reconciler removes what a host could not. */
export function removeInBackground(context: SessionContext, { host, ref }: ActiveSandbox): void {
  const { removals } = context;
  const removal: Promise<void> = host
    .removeSandbox(ref)
    .catch(() => undefined)
    .then(() => void removals.delete(removal));
  removals.add(removal);
}
