import type { RunEnd } from '../../core/runs/end-cause.ts';
import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type {
  HostActivities,
  RunActivities,
  SandboxRef,
  SessionActivities,
} from '../shared/activities.ts';
import { hostActivities, runActivities, sessionActivities } from '../shared/activity-proxies.ts';
import type { SessionInput, SessionState } from '../shared/inputs.ts';
import { type SessionTimeouts, sessionTimeouts } from '../shared/session-timeouts.ts';
import { listenForSlots, type SlotSignals } from '../shared/wait-for-slot.ts';
import { createDetailsReporter, type ReportDetails } from '../shared/workflow-details.ts';
import { createInbox, type Inbox } from './session-inbox.ts';

/** Shared by all steps of a session's workflow. */
export interface SessionContext {
  runId: string;
  instance: string;
  timeouts: SessionTimeouts;
  /** Passed on to the next history by continue-as-new. */
  state: SessionState;
  inbox: Inbox;
  slotSignals: SlotSignals;
  activities: RunActivities & SessionActivities;
  report: ReportDetails;
  /** Why the session ends without a stop request; null otherwise. */
  end: RunEnd | null;
  /** Turns since this history began. */
  turns: number;
  /** Removals of earlier sandboxes that are in progress. */
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
  const timeouts = { ...sessionTimeouts, ...input.timeouts };
  const state = { ...initialState, ...input.state };
  return {
    runId,
    instance,
    timeouts,
    state,
    inbox: createInbox(state.hasPendingMessages, timeouts.timeLimitGraceMs),
    slotSignals: listenForSlots(),
    activities: { ...runActivities(instance, timeouts), ...sessionActivities(instance, timeouts) },
    report: createDetailsReporter(initialDetails(input, state)),
    end: null,
    turns: 0,
    removals: new Set(),
  };
}

/** After continue-as-new, the sandbox of the previous history is still running. */
function initialDetails({ runId, instance }: SessionInput, { sandbox }: SessionState) {
  if (sandbox === null) return {};
  const { hostId, generation } = sandbox;
  return { host: hostId, container: sandboxName({ runId, instance, generation }) };
}

export const isEnding = ({ end, inbox }: SessionContext): boolean =>
  end !== null || inbox.stopRequest !== null;

/** Null without a sandbox, or if its host is lost. */
export function activeSandbox(context: SessionContext): ActiveSandbox | null {
  const { sandbox } = context.state;
  return sandbox === null || isLost(context, sandbox) ? null : sandboxOn(context, sandbox);
}

export function isLost(
  { inbox, state }: SessionContext,
  { generation }: { generation: number },
): boolean {
  if (generation <= inbox.lostThroughGeneration) return true;
  const isStarted = state.sandbox?.generation === generation;
  return !isStarted && generation <= inbox.unstartableThroughGeneration;
}

export function sandboxOn(
  { runId, instance, timeouts }: SessionContext,
  { hostId, generation }: { hostId: string; generation: number },
): ActiveSandbox {
  return { host: hostActivities(instance, hostId, timeouts), ref: { runId, generation } };
}

/** The workflow continues meanwhile. The reconciler removes what the host could not. */
export function removeInBackground(context: SessionContext, { host, ref }: ActiveSandbox): void {
  const { removals } = context;
  const removal: Promise<void> = host
    .removeSandbox(ref)
    .catch(() => undefined)
    .then(() => void removals.delete(removal));
  removals.add(removal);
}
